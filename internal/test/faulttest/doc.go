// Package faulttest tests what ssdprobe does when things around it fail: drives, filesystems, the state directory, fio,
// the host's /sys and /proc, and the clients of its HTTP server.
//
// It holds only tests. They start the real program (the test binary executes itself, with the race detector), cause a
// fault with loop devices, mounts, processes and sockets of their own, and look at what a user would see: the metrics,
// the log and the state directory. All require the same of the program: it says what is wrong, everything else continues,
// nothing is lost, and it recovers when the fault is over. Faults inside a drive are tested in the lab (package labtest);
// the soak test checks what several faults in a row leave behind.
//
//	go test ./internal/test/faulttest -run 'TestFilesystem' -v
//	make soak SEED=42 SOAK=15m
package faulttest
