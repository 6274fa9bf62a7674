// Package history keeps the figures of a drive over the last hour, day and month, for the plots of the status page.
//
// Its size is bounded: each series has one mean per slot of each span, about 1.6 KB. It does not judge anything, and
// the judge has its own data. Longer periods are left to Prometheus.
//
//	var h history.History
//	h.Add(history.Key{Source: "read-4k", Figure: history.P50}, round.Start, 84e-6, 1)
//	points := h.Points(key, history.Day(), time.Now())
package history
