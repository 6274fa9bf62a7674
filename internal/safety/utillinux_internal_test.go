package safety

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/tool"
)

func TestAnswersOfUtilLinux(t *testing.T) {
	for name, c := range map[string]struct {
		wipefs, blkid tool.Answer
		want          []Signature
		fails         string
	}{
		"nothing": {tool.Answer{}, tool.Answer{ExitCode: 2}, nil, ""},
		"a filesystem": {
			tool.Answer{Stdout: []byte("# offset,uuid,label,type\n0x438,80ea-1f,a, label,ext4\n")},
			tool.Answer{Stdout: []byte("DEVNAME=/proc/self/fd/3\nVERSION=1.0\nTYPE=ext4\nUSAGE=filesystem\n\n")},
			[]Signature{{"ext4 as wipefs says", 1080}}, "",
		},
		"two": {
			tool.Answer{Stdout: []byte("0x438,,,ext4\n0x10040,,,btrfs\n")}, tool.Answer{ExitCode: 8},
			[]Signature{{"ext4 as wipefs says", 1080}, {"btrfs as wipefs says", 65600}}, "",
		},
		"a table that blkid alone knows": {
			tool.Answer{}, tool.Answer{Stdout: []byte("PTTYPE=atari\n")}, []Signature{{"atari as blkid says", -1}}, "",
		},
		"two that blkid alone knows": {tool.Answer{}, tool.Answer{ExitCode: 8}, []Signature{{"more than one format as blkid says", -1}}, ""},
		"blkid fails":                {tool.Answer{}, tool.Answer{ExitCode: 4, Stderr: []byte("blkid: bad usage\n")}, nil, "exit code 4: blkid: bad usage"},
		"wipefs fails":               {tool.Answer{ExitCode: 1}, tool.Answer{ExitCode: 2}, nil, "exit code 1"},
		"no offset":                  {tool.Answer{Stdout: []byte("here,,,ext4\n")}, tool.Answer{ExitCode: 2}, nil, `it says "here,,,ext4"`},
	} {
		t.Run(name, func(t *testing.T) {
			var u utilLinux
			err := u.wipefs(c.wipefs)
			if err == nil {
				err = u.blkid(c.blkid)
			}
			if c.fails != "" {
				require.ErrorContains(t, err, c.fails)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c.want, u.signatures)
		})
	}
}

// A mark that both recognise is listed once, under this package's name.
func TestMerge(t *testing.T) {
	got := merge([]Signature{{"a GPT partition table", 512}, {"a GPT partition table", 9728}, {"an MBR partition table", 510}},
		[]Signature{{"gpt as wipefs says", 512}, {"gpt as wipefs says", 9728}, {"PMBR as wipefs says", 510}, {"vfat as wipefs says", 0}, {"atari as blkid says", -1}})
	assert.Equal(t, "a GPT partition table on it (at byte 512), an MBR partition table (at byte 510), vfat as wipefs says (at byte 0), atari as blkid says", placed(got))
}

// A mark of which only blkid knows, without an offset, is by chance nowhere.
func TestAMarkByChanceIsInASectorOfRandomData(t *testing.T) {
	data := make([]byte, 64<<10)
	rand.NewChaCha8([32]byte{}).Read(data)
	clear(data[2*sectorBytes : 3*sectorBytes])
	d := newDisk(bytes.NewReader(data), int64(len(data)))
	for offset, want := range map[int64]bool{0: true, 510: true, 1024: false, 1536: true, -1: false, int64(len(data)): false} {
		assert.Equal(t, want, d.byChance(Signature{"hfsplus as wipefs says", offset}), offset)
	}
}

func FuzzWipefs(f *testing.F) {
	f.Add("0x438,80ea-1f,a, label,ext4\n")
	f.Fuzz(func(t *testing.T, text string) {
		var u utilLinux
		if u.wipefs(tool.Answer{Stdout: []byte(text)}) == nil && len(u.signatures) == 0 {
			for line := range strings.Lines(text) {
				line = strings.TrimSpace(line)
				assert.True(t, line == "" || line[0] == '#', "%q is passed over", line)
			}
		}
	})
}
