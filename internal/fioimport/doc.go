// Package fioimport converts fio's JSON output to a run report, if fio was run without
// ssdprobe. Old results can then be shown and compared with new ones.
//
// It owns what can be concluded from such an output alone. Figures are those of fio; a
// percentile that fio did not print is unknown and never guessed. Everything about the
// device and the host is unknown, and a warning says so. The package refuses anything
// but the JSON of fio 3.0 or later, and an output that does not distinguish reads from
// writes.
//
//	if fioimport.Is(text) {
//		report, err := fioimport.Parse(text)
//		…
//	}
package fioimport
