// Package units formats figures for people, in the same way everywhere: numbers with
// three significant digits and grouped thousands, rates in decimal megabytes, drives in
// decimal units, blocks and files in binary units, latencies in µs, ms or s.
//
// It owns the text of a figure, but not its meaning. NaN and infinity are written "-".
//
//	units.IOPS(38119.7)                  // "38 120"
//	units.Latency(79784)                 // "79.8 µs"
//	units.Span(200 * time.Second)        // "3 min 20 s"
package units
