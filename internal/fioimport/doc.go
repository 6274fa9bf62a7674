// Package fioimport makes a run report of what fio printed as JSON, without ssdprobe:
// so old results are read, and compared with new ones.
//
// It owns what can be concluded from such an output alone. Figures are those of fio;
// a percentile that fio did not print is not known and never guessed. Everything about
// the device and the host is unknown, which a warning says. It refuses what is not the
// JSON of fio 3.0 or later, and an output that cannot tell reads from writes.
//
//	if fioimport.Is(text) {
//		report, err := fioimport.Parse(text)
//		…
//	}
package fioimport
