// Package devicetest creates the files of machines that are not at hand, for tests: storage servers
// with any number of sockets, cores and NVMe drives.
//
// It owns what such a machine's /sys looks like to package device. It does not create single
// unusual drives: those are fixtures, see package sysfstest.
//
//	fs := devicetest.Server{Sockets: 2, Cores: 16, Threads: 2, Drives: 12}.Make(t)
package devicetest
