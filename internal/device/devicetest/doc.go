// Package devicetest makes machines that nobody has at hand, for tests: storage
// servers of any number of sockets, cores and NVMe drives.
//
// It owns what such a machine's /sys looks like to package device. It refuses single
// odd drives: those are fixtures, see package sysfstest.
//
//	fs := devicetest.Server{Sockets: 2, Cores: 16, Threads: 2, Drives: 12}.Make(t)
package devicetest
