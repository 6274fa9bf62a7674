// Package lab boots a small Linux machine in QEMU with emulated NVMe drives, for tests. Linux's own NVMe driver then
// does in front of the programs under test what it does in front of hardware: admin commands, SMART pages, MSI-X
// vectors, sysfs, hot-plug and I/O errors, all of which a test can bring about while the machine runs.
//
//	m := lab.Start(t, lab.Options{
//		Drives: []lab.Drive{{SizeBytes: 64 << 20, WrittenRatio: 1}},
//		Files:  map[string]string{"/bin/ssdprobe": lab.Build(t, "github.com/ssdprobe/ssdprobe/cmd/ssdprobe")},
//	})
//	result, err := m.Run(ctx, "nvme", "smart-log", "/dev/nvme0", "--output-format=json")
//
// Booting is what takes time, so tests that do not disturb each other share a machine as subtests of one: Start is called
// by the parent, and Machine.RestoreAfter in subtests that change something.
//
//	t.Run("media error", func(t *testing.T) {
//		m.RestoreAfter(t)
//		err := m.SetFaults(ctx, "nv0", lab.Fault{Sector: 16384})
//
// The guest has busybox, fio, nvme-cli and the files of the options; its root is memory. It needs Debian's packages,
// which scripts/lab-setup.sh gets, and neither KVM nor root. QEMU ends with the test, also when the test process is
// killed, and leaves no file behind: images and archives are unlinked before QEMU starts.
//
// What it is not: fast, or steady. Emulated latencies answer whether a 40-fold, 2-fold or 20 % change is noticed, and
// nothing about real speed. It refuses to skip: a laboratory that cannot start is a failed test that says why.
//
// For tests only, and for the program in lab/shell, which gives a person a shell in the same machine.
package lab
