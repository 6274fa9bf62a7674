package labtest_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/report"
	"github.com/ssdprobe/ssdprobe/internal/test/lab"
)

func disk(t *testing.T, m *lab.Machine, id string) lab.Disk {
	t.Helper()
	d, err := m.Disk(bounded(t), id)
	require.NoError(t, err)
	return d
}

// output runs a program that has to succeed.
func output(t *testing.T, m *lab.Machine, args ...string) string {
	t.Helper()
	out, err := m.Output(bounded(t), args...)
	require.NoError(t, err)
	return out
}

// text returns the content of a file of one line.
func text(t *testing.T, m *lab.Machine, path ...string) string {
	t.Helper()
	content, err := m.ReadFile(bounded(t), filepath.Join(path...))
	require.NoError(t, err)
	return strings.TrimSpace(string(content))
}

func number(t *testing.T, m *lab.Machine, path ...string) int {
	t.Helper()
	n, err := strconv.Atoi(text(t, m, path...))
	require.NoError(t, err)
	return n
}

// ssdprobe runs the program, and decodes its output if into is not nil.
func ssdprobe(t *testing.T, m *lab.Machine, into any, args ...string) lab.Result {
	t.Helper()
	result, err := m.Run(bounded(t), append([]string{"ssdprobe"}, args...)...)
	require.NoError(t, err)
	if into != nil {
		require.NoError(t, json.Unmarshal([]byte(result.Stdout), into), "%+v", result)
	}
	return result
}

// devices returns what ssdprobe reports about the devices, by name.
func devices(t *testing.T, m *lab.Machine, more ...string) map[string]report.DeviceRow {
	t.Helper()
	var list report.DeviceList
	ssdprobe(t, m, &list, append([]string{"devices", "-o", "json"}, more...)...)
	byName := map[string]report.DeviceRow{}
	for _, row := range list.Devices {
		byName[row.Device.Name] = row
	}
	return byName
}

// identity returns the id of a drive, under which it is watched whatever its name is.
func identity(t *testing.T, m *lab.Machine, drive string) string {
	t.Helper()
	row, ok := devices(t, m)[disk(t, m, drive).Namespaces[0]]
	require.True(t, ok, "%s is not among the devices", drive)
	return row.Device.ID
}

// nvme runs nvme-cli and decodes its output.
func nvme(t *testing.T, m *lab.Machine, args ...string) fields {
	t.Helper()
	var f fields
	out := output(t, m, append(append([]string{"nvme"}, args...), "--output-format=json")...)
	require.NoError(t, json.Unmarshal([]byte(out), &f), out)
	return f
}

// fields are values by name, numbers and texts alike.
type fields map[string]json.RawMessage

func (f fields) text(t *testing.T, name string) string {
	t.Helper()
	require.Contains(t, f, name)
	return strings.TrimSpace(strings.Trim(string(f[name]), `"`))
}

// number also accepts a number in quotes, as nvme-cli writes 128-bit ones.
func (f fields) number(t *testing.T, name string) uint64 {
	t.Helper()
	n, err := strconv.ParseUint(f.text(t, name), 10, 64)
	require.NoError(t, err, name)
	return n
}

var currentValue = regexp.MustCompile(`[Cc]urrent value:\s*(?:0x)?([0-9a-fA-F]+)`)

// feature returns the current value of a feature, or false if the controller does not have it.
func feature(t *testing.T, m *lab.Machine, controller string, id int) (uint32, bool) {
	t.Helper()
	result, err := m.Run(bounded(t), "nvme", "get-feature", "/dev/"+controller, fmt.Sprintf("--feature-id=%d", id))
	require.NoError(t, err)
	found := currentValue.FindStringSubmatch(result.Stdout)
	if result.ExitCode != 0 || found == nil {
		assert.Contains(t, result.Stdout+result.Stderr, "INVALID_FIELD", "feature %#x", id)
		return 0, false
	}
	value, err := strconv.ParseUint(found[1], 16, 32)
	require.NoError(t, err)
	return uint32(value), true
}

// interrupts counts the interrupts of each queue of a controller, by CPU.
func interrupts(t *testing.T, m *lab.Machine, controller string) map[string][]float64 {
	t.Helper()
	table, err := m.ReadFile(bounded(t), "/proc/interrupts")
	require.NoError(t, err)
	counts := map[string][]float64{}
	cpus := 0
	for line := range strings.Lines(string(table)) {
		columns := strings.Fields(line)
		if cpus == 0 {
			cpus = len(columns)
			continue
		}
		queue, ok := strings.CutPrefix(columns[len(columns)-1], controller+"q")
		if !ok {
			continue
		}
		for _, column := range columns[1 : 1+cpus] {
			n, err := strconv.ParseFloat(column, 64)
			require.NoError(t, err, line)
			counts[queue] = append(counts[queue], n)
		}
	}
	return counts
}

// sum adds up the counts of all CPUs.
func sum(counts []float64) float64 {
	total := 0.0
	for _, n := range counts {
		total += n
	}
	return total
}

// fioIOs is fio's own count of one direction.
type fioIOs struct {
	IOs   uint64 `json:"total_ios"`
	Bytes uint64 `json:"io_bytes"`
}

// fio makes fio do the given number of I/Os, one after another, on a CPU. It returns fio's own count of them.
func fio(t *testing.T, m *lab.Machine, path, direction string, cpu, ios int) fioIOs {
	t.Helper()
	out := output(t, m, "fio", "--name=job", "--filename="+path, "--rw="+direction, "--bs=4k", "--direct=1", "--ioengine=psync",
		fmt.Sprintf("--number_ios=%d", ios), fmt.Sprintf("--cpus_allowed=%d", cpu), "--output-format=json")
	var r struct {
		Jobs []struct {
			Read  fioIOs `json:"read"`
			Write fioIOs `json:"write"`
		} `json:"jobs"`
	}
	require.NoError(t, json.Unmarshal([]byte(out), &r), out)
	require.Len(t, r.Jobs, 1)
	job := r.Jobs[0]
	assert.Zero(t, min(job.Read.IOs, job.Write.IOs), "one direction only")
	return fioIOs{IOs: job.Read.IOs + job.Write.IOs, Bytes: job.Read.Bytes + job.Write.Bytes}
}
