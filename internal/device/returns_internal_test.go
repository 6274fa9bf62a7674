package device

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
)

func TestADeviceThatComesBackIsCounted(t *testing.T) {
	s, now := NewScanner(sysfs.New(t.TempDir())), time.Unix(1e9, 0)
	at := func(name string, inode uint64) found {
		return found{Device: record.Device{ID: "eui.1", Name: name}, inode: inode}
	}
	look := func(why string, want uint64, all ...found) {
		now = now.Add(10 * time.Second)
		s.follow(all, now)
		assert.Equal(t, want, s.Returns("eui.1"), why)
	}
	assert.Zero(t, s.Returns("eui.1"))
	look("it was there at the start", 0, at("sda", 7))
	look("it stays", 0, at("sda", 7))
	look("it was away and back between two scans", 1, at("sda", 8))
	look("it is away", 1)
	look("it is back under another name", 2, at("sdb", 9))
	look("a copy of it is attached", 2, at("sdb", 9), at("sdc", 10))
	look("nobody knows which of them is left", 2, at("sdc", 10))
	hangs := at("sdc", 11)
	hangs.ID, hangs.unknown = "", true
	look("it is back and hangs, so who it is, is not known", 2, hangs)
	look("it answers", 3, at("sdc", 11))
	now = now.Add(25 * time.Hour)
	look("it was removed on purpose", 0)
	look("and is used again", 0, at("sdc", 12))
}
