//go:build !amd64

package lab

// rdtsc is for architectures on which scripts/lab-setup.sh does not set up the lab.
func rdtsc() uint64 { return 0 }
