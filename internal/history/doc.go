// Package history keeps the figures of a drive over the last hour, day and month, for the plots of the status
// page.
//
// It is bounded: each series has one mean for every slot of each span, about 1.6 KB. It judges nothing; what the
// judge compares is its own. What a longer time needs is Prometheus' work.
//
//	var h history.History
//	h.Add(history.Key{Source: "read-4k", Figure: history.P50}, round.Start, 84e-6, 1)
//	points := h.Points(key, history.Day(), time.Now())
package history
