// Package faulttest tests what ssdprobe does when things around it fail: drives, filesystems, the state directory, fio,
// the host's /sys and /proc, and the clients of its HTTP server.
//
// It holds nothing but tests. They start the real program (the test binary executes itself, race detector included), bring
// a fault about with loop devices, mounts, processes and sockets of their own, and look at what a person would see: the
// metrics, the log and the state directory. Each asks the same of the program: it says what is wrong, everything else goes
// on, nothing is lost, and when the fault is over so is the trouble. What needs a drive's own misbehaviour is tested in the
// laboratory (package labtest); what several faults in a row leave behind is the business of the soak.
//
//	go test ./internal/test/faulttest -run 'TestFilesystem' -v
//	make soak SEED=42 SOAK=15m
package faulttest
