// Package lab boots a small Linux machine in QEMU with emulated NVMe drives, for tests. The programs under test then
// run on Linux's own NVMe driver, which behaves as on hardware: admin commands, SMART pages, MSI-X vectors, sysfs,
// hot-plug and I/O errors. A test can cause all of these while the machine runs.
//
//	m := lab.Start(t, lab.Options{
//		Drives: []lab.Drive{{SizeBytes: 64 << 20, WrittenRatio: 1}},
//		Files:  map[string]string{"/bin/ssdprobe": lab.Build(t, "github.com/ssdprobe/ssdprobe/cmd/ssdprobe")},
//	})
//	result, err := m.Run(ctx, "nvme", "smart-log", "/dev/nvme0", "--output-format=json")
//
// Booting takes time, so tests that do not disturb each other share a machine as subtests of one test. The parent
// calls Start; subtests that change something call Machine.RestoreAfter.
//
//	t.Run("media error", func(t *testing.T) {
//		m.RestoreAfter(t)
//		err := m.SetFaults(ctx, "nv0", lab.Fault{Sector: 16384})
//
// The guest has busybox, fio, nvme-cli and the files of the options; its root is in memory. The lab needs Debian
// packages that scripts/lab-setup.sh installs, but neither KVM nor root. QEMU ends with the test, even if the test
// process is killed, and leaves no file behind: images and archives are unlinked before QEMU starts.
//
// The lab is neither fast nor steady. Emulated latencies show whether a 40-fold, 2-fold or 20 % change is noticed,
// and nothing about real speed. The lab does not skip tests: if it cannot start, the test fails and says why.
//
// It is only for tests, and for the program in lab/shell, which opens an interactive shell in the same machine.
package lab
