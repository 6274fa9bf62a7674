package export

import (
	"math"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

const (
	ioName = "ssdprobe_io_latency_seconds"
	ioHelp = "Latency of each I/O of applications, in seconds, as a classic and a native histogram. eBPF programs in the kernel measure it. " +
		"operation is read, write, discard or flush. stage is queue (the time of a read or write in the kernel before it is issued to the device; absent for I/O that " +
		"is issued at once) or device (from then until it completes). I/O of ssdprobe itself is left out. Absent without such I/O, and where " +
		"ssdprobe_io_latency_available is 0."
)

func ioLabels() []string { return append(deviceLabels(), "operation", "stage") }

// ioFamilies returns the families that say whether there are histograms of applications' I/O.
func ioFamilies() []family[record.TargetStatus] {
	return []family[record.TargetStatus]{
		metric("ssdprobe_io_latency_available", gauge, []string{"reason"},
			"1 if eBPF programs time the I/O of applications on the device, for ssdprobe_io_latency_seconds. 0 if not: reason is then off (by the configuration), "+
				"full (64 devices are timed already), rights (the programs need CAP_BPF and CAP_PERFMON) or kernel (it cannot run them). The log has details about rights and kernel.",
			func(t record.TargetStatus, emit emit) {
				if t.IOLatency != nil {
					emit(boolean(t.IOLatency.Unavailable == ""), string(t.IOLatency.Unavailable))
				}
			}),
	}
}

// missedFamily returns the family that says how many I/Os the histograms lack.
func missedFamily() family[record.Snapshot] {
	return family[record.Snapshot]{
		name: "ssdprobe_io_latency_missed_total", kind: counter, labels: []string{"reason"},
		help: "Number of I/Os on the whole machine that may be missing from ssdprobe_io_latency_seconds since ssdprobe started, by reason. One I/O may count for two " +
			"reasons. recursion: the kernel did not run a program, because it would have interrupted the same program (not known before Linux 5.19 without rights). room: " +
			"too many I/Os were in flight at once. replaced: another I/O took its entry at the same moment. not_begun: the I/O completed, but its beginning was not seen; " +
			"this includes I/O in flight when tracing of a device starts. not_issued: it completed, but was not seen to reach the device. not_ended: the kernel reused its " +
			"request or bio, and its completion was not seen. Absent where no programs run.",
		series: func(s record.Snapshot, emit emit) {
			for _, why := range record.IOMisses() {
				if n, known := s.IOLatencyMissed[why]; known {
					emit(float64(n), string(why))
				}
			}
		},
	}
}

// unreportedFamily returns the family that says how many slow I/Os recordings lack.
func unreportedFamily() family[record.Snapshot] {
	return metric("ssdprobe_io_latency_unreported_total", counter, []string{"reason"},
		"Number of slow I/Os on the whole machine that were never reported to the flight recorder since ssdprobe started, by reason. ssdprobe_io_latency_seconds counts them. "+
			"limit: 64 slow I/Os of the device had been reported in that second. room: the buffer for reports was full, because too many devices were slow at once or "+
			"ssdprobe did not get to run. Absent where no programs run.",
		func(s record.Snapshot, emit emit) {
			for _, why := range record.IOUnreporteds() {
				if n, known := s.IOLatencyUnreported[why]; known {
					emit(float64(n), string(why))
				}
			}
		})
}

// ioHistograms collects the histograms of applications' I/O.
type ioHistograms struct{ desc *prometheus.Desc }

func newIOHistograms() ioHistograms {
	return ioHistograms{prometheus.V2.NewDesc(ioName, ioHelp, prometheus.UnconstrainedLabels(ioLabels()), nil, prometheus.WithUnit(unit(ioName)))}
}

func (f ioHistograms) collect(t record.TargetStatus, out chan<- prometheus.Metric, leading ...string) {
	if t.IOLatency == nil {
		return
	}
	for _, h := range t.IOLatency.Histograms {
		bounds := ioBounds(h)
		if bounds == nil {
			continue
		}
		out <- newIOHistogram(f.desc, h, bounds, append(leading, string(h.Operation), string(h.Stage))...)
	}
}

// ioBounds returns the bounds of the classic buckets, or nil if the histogram is not exported. They are powers of
// two, which are also bounds of the counted buckets. Each bucket costs a series, and a device may have at most 250
// series, so only the native histograms are detailed. Reads and writes in the device have the most buckets; flushes,
// discards and the time in the queue have few.
func ioBounds(h record.IOHistogram) []float64 {
	exponents := []float64{-15, -14, -13, -12, -11, -10, -8, -6, -4, -2, 0, 2} // 31 µs to 4 s
	switch often := h.Operation == record.OperationRead || h.Operation == record.OperationWrite; {
	case h.Stage == record.StageQueue && !often:
		return nil
	case h.Stage == record.StageQueue:
		exponents = []float64{-10, -6, -2, 2} // 1 ms to 4 s
	case !often:
		exponents = []float64{-13, -10, -7, -4, -1, 2} // 122 µs to 4 s
	}
	for i, e := range exponents {
		exponents[i] = math.Exp2(e)
	}
	return exponents
}

// ioHistogram is both a classic and a native histogram, which no constructor of the library makes.
type ioHistogram struct {
	desc            *prometheus.Desc
	classic, native prometheus.Metric
}

func newIOHistogram(desc *prometheus.Desc, h record.IOHistogram, bounds []float64, labels ...string) prometheus.Metric {
	count := h.Count()
	classic, err := prometheus.NewConstHistogram(desc, count, h.Sum.Seconds(), cumulative(h, bounds), labels...)
	if err != nil {
		return prometheus.NewInvalidMetric(desc, err)
	}
	buckets := map[int]int64{}
	for i, n := range h.Buckets {
		buckets[record.IOFirstNativeBucket+i] = int64(n)
	}
	native, err := prometheus.NewConstNativeHistogram(desc, count, h.Sum.Seconds(), buckets, nil, 0, record.IONativeSchema, 0, h.Since, labels...)
	if err != nil {
		return prometheus.NewInvalidMetric(desc, err)
	}
	return ioHistogram{desc, classic, native}
}

// cumulative counts the I/Os up to each bound. Every bound is also the bound of a bucket.
func cumulative(h record.IOHistogram, bounds []float64) map[float64]uint64 {
	counts := make(map[float64]uint64, len(bounds))
	var n uint64
	i := 0
	for _, bound := range bounds {
		for ; i < record.IOBuckets && record.IOBucketSeconds(i) <= bound; i++ {
			n += h.Buckets[i]
		}
		counts[bound] = n
	}
	return counts
}

// Desc implements prometheus.Metric.
func (h ioHistogram) Desc() *prometheus.Desc { return h.desc }

// Write implements prometheus.Metric.
func (h ioHistogram) Write(out *dto.Metric) error {
	var classic dto.Metric
	if err := h.classic.Write(&classic); err != nil {
		return err
	}
	if err := h.native.Write(out); err != nil {
		return err
	}
	out.Histogram.Bucket = classic.Histogram.Bucket
	return nil
}
