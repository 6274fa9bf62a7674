package safety

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

func randomBytes(t *testing.T, n int) []byte {
	t.Helper()
	p := make([]byte, n)
	_, err := rand.Read(p)
	require.NoError(t, err)
	return p
}

func TestContentOf(t *testing.T) {
	noise := randomBytes(t, 64<<10)
	table := make([]byte, sectorBytes)
	for i := 0; i < sectorBytes; i += 8 { // random keys of 64 bits
		binary.LittleEndian.PutUint64(table[i:], binary.LittleEndian.Uint64(noise[i:])>>24)
	}
	english := strings.Repeat("It was the best of times, it was the worst of times.\n", 10)
	for name, c := range map[string]struct {
		sector []byte
		want   content
	}{
		"zeros":          {make([]byte, sectorBytes), blank},
		"erased":         {bytes.Repeat([]byte{0xff}, sectorBytes), blank},
		"noise":          {noise[:sectorBytes], random},
		"text":           {[]byte(english[:sectorBytes]), text},
		"end of a text":  {append([]byte("the end\n"), make([]byte, sectorBytes-8)...), text},
		"badblocks -w":   {bytes.Repeat([]byte{0xaa}, sectorBytes), pattern},
		"dead beef":      {bytes.Repeat([]byte{0xde, 0xad, 0xbe, 0xef}, sectorBytes/4), pattern},
		"keys":           {table, structured},
		"one byte":       {append([]byte{1}, make([]byte, sectorBytes-1)...), structured},
		"base 64":        {[]byte(base64.StdEncoding.EncodeToString(noise)[:sectorBytes]), text},
		"zeros and ones": {append(make([]byte, sectorBytes-1), 0xff), structured},
	} {
		assert.Equal(t, c.want, contentOf(c.sector, 1<<30), name)
	}
}

// Random data is never mistaken for other data, not even once in a hundred thousand sectors.
func TestRandomDataIsRandom(t *testing.T) {
	noise := randomBytes(t, 50<<20)
	for i := 0; i < len(noise); i += sectorBytes {
		require.Equal(t, random, contentOf(noise[i:i+sectorBytes], int64(i)), i)
	}
}

// A program is not random data, though parts of it may be.
func TestProgramsAreData(t *testing.T) {
	program, err := os.ReadFile("/proc/self/exe")
	require.NoError(t, err)
	kinds := map[content]int{}
	for i := 0; i+sectorBytes <= len(program); i += sectorBytes {
		kinds[contentOf(program[i:i+sectorBytes], int64(i))]++
	}
	assert.Greater(t, kinds[structured]+kinds[text]+kinds[pattern], len(program)/sectorBytes/2, kinds)
}

// Every sector that fio writes is recognised, in small and large blocks, from the first write of
// a buffer to the one that stamps its last line. If fio also reads, it writes buffers with what
// it read: from a blank device, from a random one, and from its own writes.
func TestContentOfFio(t *testing.T) {
	for name, args := range map[string][]string{
		"what it has read":       {"--rw=randrw", "--bs=4k", "--iodepth=16", "--ioengine=libaio", "--loops=8"},
		"what it has read, once": {"--rw=randrw", "--rwmixread=70", "--bs=8k"},
		"sectors at random":      {"--rw=randwrite", "--bs=512"},
		"blocks at random":       {"--rw=randwrite", "--bs=4k", "--iodepth=32", "--ioengine=libaio"},
		"large blocks in a row":  {"--rw=write", "--bs=128k", "--iodepth=8", "--ioengine=libaio", "--loops=8"},
		"several jobs, unevenly": {"--rw=randwrite", "--bssplit=512/20:4k/40:12k/40", "--numjobs=4"},
	} {
		for before, device := range map[string][]byte{"blank": make([]byte, 4<<20), "erased": bytes.Repeat([]byte{0xff}, 4<<20), "random": randomBytes(t, 4<<20)} {
			testContentOfFio(t, name+", on a "+before+" device", device, args)
		}
	}
}

func testContentOfFio(t *testing.T, name string, device []byte, args []string) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "file")
		require.NoError(t, os.WriteFile(path, device, 0o600))
		out, err := exec.CommandContext(t.Context(), testenv.Installed(t, "fio"), append([]string{
			"--name=fill", "--filename=" + path, "--size=4m", "--thread", "--norandommap", "--randrepeat=0",
		}, args...)...).CombinedOutput()
		require.NoError(t, err, "%s", out)
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		written := 0
		for i := 0; i+sectorBytes <= len(data); i += sectorBytes {
			kind := contentOf(data[i:i+sectorBytes], int64(i))
			switch kind {
			case random:
				written++
			case blank:
			default:
				require.Fail(t, "a sector of fio is data", "%d: %x", i, data[i:i+sectorBytes])
			}
		}
		assert.Positive(t, written)
	})
}

// A sector with fio's stamps and other data between them is data, and so is one without the
// stamp of its own offset.
func TestStampsAreNotEnough(t *testing.T) {
	const offset = 143872
	stamped := func(line int, at uint64) []byte {
		sector := make([]byte, sectorBytes)
		binary.NativeEndian.PutUint64(sector[64*line:], at)
		return sector
	}
	assert.Equal(t, random, contentOf(stamped(3, offset), offset))
	assert.Equal(t, structured, contentOf(stamped(3, offset+512), offset))
	sector := stamped(3, offset)
	sector[100] = 1
	assert.Equal(t, structured, contentOf(sector, offset))
}

// Both ends are sampled completely, and one block in each part between them.
func TestSamples(t *testing.T) {
	for _, size := range []int64{0, 1, blockBytes, 3 << 20, 6 << 20, 6<<20 + blockBytes, 7<<20 + 512, 1 << 40} {
		got := samples(size)
		assert.LessOrEqual(t, len(got), 2*endBytes/blockBytes+parts)
		assert.True(t, size < 6<<20 || len(got) == 2*endBytes/blockBytes+parts, size)
		for i, at := range got {
			assert.Zero(t, at%blockBytes)
			assert.Less(t, at, size)
			assert.True(t, i == 0 || at > got[i-1], size)
			part := (size - 2*endBytes) / parts
			assert.True(t, size < 6<<20 || i == 0 || at-got[i-1] <= 2*part+2*blockBytes, size)
		}
		assert.True(t, size == 0 || got[0] == 0 && got[len(got)-1]+blockBytes >= size, size)
	}
}

func TestSample(t *testing.T) {
	const size = 4 << 20
	device := randomBytes(t, size)
	look := func() unknown {
		u, err := sample(t.Context(), bytes.NewReader(device), size)
		require.NoError(t, err)
		return u
	}
	assert.Equal(t, unknown{sampled: size / blockBytes}, look())
	assert.Empty(t, look().finding())
	copy(device[1<<20+512:], strings.Repeat("the secret of the 17th floor is ", 200))
	u := look()
	assert.Equal(t, unknown{sampled: size / blockBytes, blocks: 2, first: 1<<20 + 512, kind: text}, u)
	assert.Equal(t, []Finding{{Kind: KindUnknownData, Text: "it has data of no known format: " +
		"2 of 1 024 sampled blocks are neither blank nor random, the first of them (text) at byte 1049088"}}, u.finding())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := sample(ctx, bytes.NewReader(device), size)
	require.ErrorIs(t, err, context.Canceled)
	_, err = sample(t.Context(), bytes.NewReader(nil), size)
	require.ErrorContains(t, err, "read 4096 bytes at 0")
}
