// Package labtest tests ssdprobe in the lab: the program as it is shipped, in a machine of package lab, with Linux's
// own NVMe driver.
//
// It holds only tests. They compare the output of ssdprobe with independent sources in the same machine: nvme-cli, fio,
// sysfs and /proc. Events on a drive are caused from outside. Booting takes time, so all tests share four machines, as
// subtests that leave the drives as they found them. Two machines run at a time, because they mostly wait.
//
//	go test ./internal/test/labtest -run 'TestDrives/media_error' -v
//
// It does not skip tests: without the lab (scripts/lab-setup.sh) they fail and say what is missing.
package labtest
