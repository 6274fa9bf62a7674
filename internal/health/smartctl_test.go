package health_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/health"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/sysfs/sysfstest"
)

func answer(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name+".json"))
	require.NoError(t, err)
	return b
}

func TestAnswersOfSmartctl(t *testing.T) {
	for name, want := range map[string]record.DiskHealth{
		"captured/ata": {
			Passed: new(true), TemperatureCelsius: new(31), PowerOnHours: new(int64(1)), PowerCycles: new(int64(0)), ReallocatedSectors: new(int64(0)),
		},
		"captured/scsi":     {Passed: new(true), TemperatureCelsius: new(38)},
		"built/ata-standby": {Asleep: true},
		"built/ata-failing": {
			Passed: new(false), TemperatureCelsius: new(44), PowerOnHours: new(int64(30211)), PowerCycles: new(int64(37)), PercentageUsed: new(1.03),
			ReallocatedSectors: new(int64(412)), PendingSectors: new(int64(8)), UncorrectableSectors: new(int64(2)),
		},
		"built/sas-hot": {Passed: new(false), Reason: "WARNING - SPECIFIED TEMPERATURE EXCEEDED", TooHot: true, TemperatureCelsius: new(71)},
		"built/sas": {
			Passed: new(true), TemperatureCelsius: new(31), PowerOnHours: new(int64(12001)), PercentageUsed: new(0.04), ReallocatedSectors: new(int64(6)),
		},
	} {
		t.Run(name, func(t *testing.T) {
			h, err := health.ParseSmartctl(answer(t, name))
			require.NoError(t, err)
			assert.Equal(t, want, h)
		})
	}
}

// TestAttributesOfOtherMeaning: vendors count other things under the same numbers, which smartctl's names tell. The names
// are those of its drivedb.h.
func TestAttributesOfOtherMeaning(t *testing.T) {
	for name, c := range map[string]struct {
		attribute string
		want      record.DiskHealth
	}{
		"what the host has read (OCZ Vector)": {`{"id": 198, "name": "Host_Reads_GiB", "raw": {"value": 81234, "string": "81234"}}`, record.DiskHealth{}},
		"sectors read (Indilinx)":             {`{"id": 198, "name": "Read_Sectors_Tot_Ct", "raw": {"value": 81234, "string": "81234"}}`, record.DiskHealth{}},
		"corrected errors (Xcel-10)":          {`{"id": 197, "name": "ECC_Error_Count", "raw": {"value": 81234, "string": "81234"}}`, record.DiskHealth{}},
		"not in use (Phison)":                 {`{"id": 197, "name": "Not_In_Use", "raw": {"value": 81234, "string": "81234"}}`, record.DiskHealth{}},
		"pending (Micron)": {
			`{"id": 197, "name": "Pending_Sector_Count", "raw": {"value": 3, "string": "3"}}`, record.DiskHealth{PendingSectors: new(int64(3))},
		},
		"uncorrectable (Nytro)": {
			`{"id": 198, "name": "Uncor_Read_Error_Ct", "raw": {"value": 3, "string": "3"}}`, record.DiskHealth{UncorrectableSectors: new(int64(3))},
		},
		"retired (SandForce)": {
			`{"id": 5, "name": "Retired_Block_Count", "raw": {"value": 3, "string": "3"}}`, record.DiskHealth{ReallocatedSectors: new(int64(3))},
		},
		"other counts in the high bytes": {
			`{"id": 5, "name": "Reallocated_Sector_Ct", "raw": {"value": 8589934592003, "string": "3 (2000 0)"}}`, record.DiskHealth{ReallocatedSectors: new(int64(3))},
		},
		"an attribute of 64 bits": {
			`{"id": 199, "name": "Write_Sectors_Tot_Ct", "raw": {"value": 18446744073709551615, "string": "18446744073709551615"}}`, record.DiskHealth{},
		},
		"no number": {`{"id": 5, "name": "Reallocated_Sector_Ct", "raw": {"value": 3, "string": ""}}`, record.DiskHealth{}},
	} {
		t.Run(name, func(t *testing.T) {
			h, err := health.ParseSmartctl([]byte(`{"smartctl": {"exit_status": 0}, "power_cycle_count": 1, "ata_smart_attributes": {"table": [` + c.attribute + `]}}`))
			require.NoError(t, err)
			c.want.PowerCycles = new(int64(1))
			assert.Equal(t, c.want, h)
		})
	}
}

func TestAnswersThatAreNone(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"an old smartctl":       {"smartctl 6.6\nUNRECOGNIZED OPTION: json\n", "7.0 or later is needed"},
		"nothing":               {"", "read the answer of smartctl"},
		"somebody else":         {`{"x": 1}`, "says nothing about itself"},
		"no disk":               {string(answer(t, "captured/ata-refused")), "exit status 2"},
		"a drive without SMART": {`{"smartctl": {"exit_status": 4}, "temperature": {"current": 0}}`, health.ErrNoSmart.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := health.ParseSmartctl([]byte(c.text))
			require.ErrorContains(t, err, c.want)
		})
	}
	_, err := health.ParseSmartctl(answer(t, "built/permission"))
	require.ErrorIs(t, err, fs.ErrPermission)
	require.ErrorContains(t, err, "/dev/sda failed")
}

func FuzzParseSmartctl(f *testing.F) {
	names, err := filepath.Glob("testdata/*/*.json")
	require.NoError(f, err)
	for _, name := range names {
		b, err := os.ReadFile(name)
		require.NoError(f, err)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		h, err := health.ParseSmartctl(data)
		if err == nil && h == (record.DiskHealth{}) {
			t.Error("neither an answer nor an error")
		}
		if err != nil && h != (record.DiskHealth{}) {
			t.Errorf("an answer and an error: %+v, %v", h, err)
		}
	})
}

// program writes a fake smartctl.
func program(t *testing.T, script string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "smartctl")
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o700))
	return path
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	require.NoError(t, err)
	return path
}

func TestADriveIsAskedWithoutWakingIt(t *testing.T) {
	files := sysfstest.Make(t, map[string]string{
		"sys/block/sdb/device/vendor": "ATA     \n", "sys/block/sdc/device/vendor": "SEAGATE \n",
	}, nil)
	for name, c := range map[string]struct {
		device record.Device
		kind   string
	}{
		"SATA":                    {record.Device{Name: "sda", Transport: "sata"}, "sat"},
		"SATA behind SAS adapter": {record.Device{Name: "sdb", Transport: "sas"}, "sat"},
		"SAS":                     {record.Device{Name: "sdc", Transport: "sas"}, "scsi"},
	} {
		t.Run(name, func(t *testing.T) {
			said := filepath.Join(t.TempDir(), "args")
			// The drive sleeps, so the exit status is not 0.
			path := program(t, "echo \"$@\" >"+said+"\ncat "+absolute(t, "testdata/built/ata-standby.json")+"\nexit 3\n")
			h, err := health.NewDrive(files, path, c.device, "/dev/"+c.device.Name).Read(t.Context(), time.Minute)
			require.NoError(t, err)
			assert.WithinDuration(t, time.Now(), h.Time, time.Minute)
			h.Time = time.Time{}
			assert.Equal(t, record.DiskHealth{Asleep: true}, h)
			args, err := os.ReadFile(said)
			require.NoError(t, err)
			assert.Equal(t, "--json --nocheck standby,3 --device "+c.kind+" --info --health --attributes /dev/"+c.device.Name+"\n", string(args))
		})
	}
}

func TestASmartctlThatFails(t *testing.T) {
	read := func(path string) error {
		_, err := health.NewDrive(nothing(t), path, record.Device{Name: "sda", Transport: "sata"}, "/dev/sda").Read(t.Context(), time.Minute)
		return err
	}
	require.ErrorContains(t, read(program(t, "echo broken >&2; exit 1\n")), "health of sda: read the answer of smartctl (7.0 or later is needed): unexpected end of JSON input: broken")
	require.ErrorIs(t, read(filepath.Join(t.TempDir(), "absent")), fs.ErrNotExist)
	require.ErrorContains(t, read(program(t, "exec yes\n")), "it says more than 1048576 bytes")
}

func TestFindSmartctl(t *testing.T) {
	path := program(t, "")
	t.Setenv("PATH", filepath.Dir(path))
	found, err := health.FindSmartctl()
	require.NoError(t, err)
	assert.Equal(t, path, found)
}
