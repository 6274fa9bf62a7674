package export_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ssdprobe/ssdprobe/internal/export"
)

func TestEveryFamilyIsDocumented(t *testing.T) {
	var documented []string
	for _, s := range export.Sections() {
		for _, f := range s.Families {
			documented = append(documented, f.Name)
		}
	}
	slices.Sort(documented)
	assert.Equal(t, names(t), documented)
}
