package sysfs_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ssdprobe/ssdprobe/internal/sysfs"
)

func TestHeadOf(t *testing.T) {
	for name, want := range map[string]string{
		"nvme0c1n2": "nvme0n2", "nvme10c33n1": "nvme10n1",
		"nvme0n1": "", "nvme0c0n1p1": "", "nvme0cxn1": "", "nvme0cn1": "", "nvmec0n1": "", "sdc1": "", "": "",
	} {
		assert.Equal(t, want, sysfs.HeadOf(name), name)
	}
}
