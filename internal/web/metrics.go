package web

import (
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/klauspost/compress/gzhttp"
	"github.com/klauspost/compress/gzip"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

const (
	// scrapesAtOnce is for two or three Prometheus servers and a person.
	scrapesAtOnce = 8
	// scrapeTimeout is far above what a snapshot takes and at Prometheus' own default.
	scrapeTimeout = 10 * time.Second
)

// Metrics is what a prometheus.Registry does.
type Metrics interface {
	prometheus.Registerer
	prometheus.Gatherer
}

// metrics serves what the registry gathers. http.TimeoutHandler keeps an answer
// in memory until it is whole, which frees the slot before anything is sent:
// clients that read slowly do not use up the slots.
func metrics(registry Metrics, log *slog.Logger) http.Handler {
	gathered := promhttp.HandlerFor(registry, promhttp.HandlerOpts{
		ErrorLog: scrapeLog{log},
		// One broken series must not hide all others; it is counted and logged.
		ErrorHandling:       promhttp.ContinueOnError,
		Registry:            registry,
		EnableOpenMetrics:   true,
		MaxRequestsInFlight: scrapesAtOnce,
		DisableCompression:  true,
	})
	// promhttp compresses at gzip's default level, which is nearly half of the CPU
	// time of a scrape; the fastest level takes a fifth of that and sends a third more.
	compressed, err := gzhttp.NewWrapper(gzhttp.CompressionLevel(gzip.BestSpeed), gzhttp.ContentTypeFilter(gzhttp.CompressAllContentTypeFilter))
	if err != nil {
		panic(err) // of the constants above only
	}
	return http.TimeoutHandler(compressed(gathered), scrapeTimeout, fmt.Sprintf("no metrics within %v\n", scrapeTimeout))
}

// scrapeLog writes what promhttp has to say, several errors in one line.
type scrapeLog struct{ log *slog.Logger }

// Println implements promhttp.Logger.
func (l scrapeLog) Println(v ...any) {
	text := strings.Join(strings.Fields(fmt.Sprintln(v...)), " ")
	l.log.Error("a scrape is incomplete", "err", text)
}
