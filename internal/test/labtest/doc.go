// Package labtest tests ssdprobe in the laboratory: the program as it is shipped, in a machine of package lab, before
// Linux's own NVMe driver.
//
// It holds nothing but tests. What ssdprobe says is compared with other witnesses in the same machine: nvme-cli, fio,
// sysfs and /proc; what happens to a drive is brought about from outside. Booting takes time, so all of it shares four
// machines, and tests are subtests that leave the drives as they found them. Two machines run at a time: they wait much.
//
//	go test ./internal/test/labtest -run 'TestDrives/media_error' -v
//
// It refuses to skip: without the laboratory (scripts/lab-setup.sh) the tests fail and say what is missing.
package labtest
