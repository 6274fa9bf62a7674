//go:build !amd64

package lab

// rdtsc is for a machine on which scripts/lab-setup.sh refuses to set up the laboratory.
func rdtsc() uint64 { return 0 }
