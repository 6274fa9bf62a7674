// Package labtest tests ssdprobe in the laboratory: the program as it is shipped, in a machine of package lab, before
// Linux's own NVMe driver.
//
// It holds nothing but tests. What ssdprobe says is compared with other witnesses in the same machine: nvme-cli, fio,
// sysfs and /proc; what happens to a drive is brought about from outside. All of it shares three machines, because booting
// is what takes time, so tests are subtests that leave the drives as they found them.
//
//	go test ./internal/test/labtest -run 'TestLab/media_error' -v
//
// It refuses to skip: without the laboratory (scripts/lab-setup.sh) the tests fail and say what is missing.
package labtest
