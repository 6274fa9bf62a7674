package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report"
	"github.com/ssdprobe/ssdprobe/internal/sysfs/sysfstest"
)

// hostWithDisks creates the files of a machine with a SATA disk, a virtio disk and an NVMe controller whose
// device node is missing. It returns a configuration for the machine.
func hostWithDisks(t *testing.T) (config string) {
	t.Helper()
	root := t.TempDir()
	const (
		scsi   = "sys/devices/pci0000:00/0000:00:17.0/ata1/host0/target0:0:0/0:0:0:0"
		virtio = "sys/devices/pci0000:00/0000:00:05.0/virtio1"
		nvme   = "sys/devices/pci0000:00/0000:00:06.0/nvme/nvme0"
	)
	files := map[string]string{
		scsi + "/vendor": "ATA     \n", scsi + "/model": "Samsung SSD 870 \n", nvme + "/model": "Example SSD\n", nvme + "/serial": "E1\n",
		"proc/interrupts": "   CPU0\n 30: 7 PCI-MSI 1-edge nvme0q0\n 31: 9 PCI-MSI 1-edge nvme0q1\n",
	}
	links := map[string]string{
		scsi + "/subsystem": "/sys/bus/scsi", virtio + "/subsystem": "/sys/bus/virtio", nvme + "/subsystem": "/sys/class/nvme",
		"sys/class/nvme/nvme0": "/" + nvme,
	}
	loop := "sys/devices/virtual/block/loop0"
	files[loop+"/dev"], files[loop+"/size"], files[loop+"/loop/backing_file"] = "7:0\n", "2048\n", "/srv/image\n"
	files[loop+"/queue/logical_block_size"], links["sys/block/loop0"] = "512\n", "/"+loop
	for disk, at := range map[string]string{"sda": scsi + "/block/sda", "vda": virtio + "/block/vda", "nvme0n1": nvme + "/nvme0n1"} {
		files[at+"/dev"], files[at+"/size"] = "8:"+disk[len(disk)-1:]+"\n", "2048\n"
		files[at+"/queue/logical_block_size"] = "512\n"
		links["sys/block/"+disk] = "/" + at
	}
	files[virtio+"/block/vda/dev"], files[nvme+"/nvme0n1/dev"], files[scsi+"/block/sda/dev"] = "254:0\n", "259:0\n", "8:0\n"
	links[scsi+"/block/sda/device"], links[virtio+"/block/vda/device"] = "/"+scsi, "/"+virtio
	links[nvme+"/nvme0n1/device"] = "/" + nvme
	sysfstest.Add(t, root, files, links)
	return file(t, "c.yaml", "host_root: "+root+"\n")
}

// smartctl puts a program with that name first in the PATH, which prints the given answer.
func smartctl(t *testing.T, answer string) {
	t.Helper()
	answer, err := filepath.Abs(filepath.Join("..", "health", "testdata", answer+".json"))
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "smartctl"), []byte("#!/bin/sh\ncat "+answer+"\n"), 0o700))
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
}

func TestSmartOfASATADrive(t *testing.T) {
	config := hostWithDisks(t)
	for name, c := range map[string]struct {
		answer string
		code   int
		says   []string
	}{
		"well":    {"captured/ata", 0, []string{"sda  Samsung SSD 870", "The drive reports nothing wrong.", "temperature          31 °C"}},
		"failing": {"built/ata-failing", 3, []string{"critical: the drive says that it is failing", "replace it", "pending sectors        8"}},
		"asleep":  {"built/ata-standby", 0, []string{"asleep: it was not woken"}},
	} {
		t.Run(name, func(t *testing.T) {
			smartctl(t, c.answer)
			got := ssdprobe(t, "smart", "sda", "--config", config, "--state-dir", t.TempDir())
			assert.Equal(t, c.code, got.code, got.stderr)
			assert.Empty(t, got.stderr)
			for _, text := range c.says {
				assert.Contains(t, got.stdout, text)
			}
		})
	}

	smartctl(t, "built/ata-failing")
	got := ssdprobe(t, "smart", "/dev/sda", "-o", "json", "--config", config, "--state-dir", t.TempDir())
	assert.Equal(t, 3, got.code, got.stderr)
	var rows []report.SmartRow
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &rows))
	require.Len(t, rows, 1)
	assert.Equal(t, "sda", rows[0].Controller.Name)
	assert.EqualValues(t, 412, *rows[0].Controller.Disk.ReallocatedSectors)
	assert.Equal(t, record.WarnDriveCritical, rows[0].Controller.Warnings[0].Code)
	assert.Equal(t, "Samsung SSD 870", rows[0].Devices[0].Model)
}

func TestSmartThatCannotBeRead(t *testing.T) {
	config := hostWithDisks(t)
	smartctl(t, "built/permission")
	for name, c := range map[string]struct{ device, says string }{
		"a virtual disk":               {"vda", "vda (virtio) does not report its health; only NVMe, SATA and SAS drives do"},
		"a loop device":                {"loop0", "loop0 does not report its health; only NVMe, SATA and SAS drives do"},
		"a controller without node":    {"nvme0", "health of nvme0: open nvme: stat"},
		"by its path":                  {"/dev/nvme0", "health of nvme0: open nvme: stat"},
		"by one of its namespaces":     {"nvme0n1", "health of nvme0: open nvme: stat"},
		"smartctl without permissions": {"sda", "health of sda: smartctl: Smartctl open device: /dev/sda failed: Permission denied"},
	} {
		t.Run(name, func(t *testing.T) {
			got := ssdprobe(t, "smart", c.device, "--config", config, "--state-dir", t.TempDir())
			assert.Equal(t, 1, got.code)
			assert.Empty(t, got.stdout)
			assert.Contains(t, got.stderr, c.says)
		})
	}
	assert.Equal(t, 2, in("smart").code)
	assert.Equal(t, 2, in("smart", "a", "b").code)
}
