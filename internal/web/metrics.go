package web

import (
	"fmt"
	"log/slog"
	"net/http"
	"strings"

	"github.com/klauspost/compress/gzhttp"
	"github.com/klauspost/compress/gzip"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// scrapesAtOnce is enough for two or three Prometheus servers and a person. A client that does not read its answer
// holds the memory of a whole scrape: 30 MB with 256 targets. This does not use MaxRequestsInFlight of promhttp,
// which refuses at once: replicas of Prometheus that scrape at the same moment as a slow client would lose a scrape.
const scrapesAtOnce = 4

// Metrics is the part of prometheus.Registry that the handler needs.
type Metrics interface {
	prometheus.Registerer
	prometheus.Gatherer
}

// metrics serves the metrics of the registry.
func metrics(registry Metrics, log *slog.Logger) http.Handler {
	gathered := promhttp.HandlerFor(registry, promhttp.HandlerOpts{
		ErrorLog: scrapeLog{log},
		// One broken series must not hide all others; it is counted and logged.
		ErrorHandling:      promhttp.ContinueOnError,
		Registry:           registry,
		EnableOpenMetrics:  true,
		DisableCompression: true,
	})
	// promhttp compresses at gzip's default level, which takes nearly half of the CPU time of a scrape. The fastest
	// level takes a fifth of that, for an output that is a third larger.
	compressed, err := gzhttp.NewWrapper(gzhttp.CompressionLevel(gzip.BestSpeed), gzhttp.ContentTypeFilter(gzhttp.CompressAllContentTypeFilter))
	if err != nil {
		panic(err) // can only result from the constants above
	}
	return compressed(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		gathered.ServeHTTP(&leavable{ResponseWriter: w, left: func(err error) {
			log.Info("a client did not take the whole scrape", "client", r.RemoteAddr, "err", err)
		}}, r)
	}))
}

// leavable is an answer whose client may leave before its end. That is logged once, whereas promhttp would log an
// error for each of the hundreds of families that it could not send.
type leavable struct {
	http.ResponseWriter
	left func(error)
	gone bool
}

// Write implements http.ResponseWriter.
func (l *leavable) Write(p []byte) (int, error) {
	if l.gone {
		return len(p), nil
	}
	_, err := l.ResponseWriter.Write(p)
	if err != nil {
		l.gone = true
		l.left(err)
	}
	return len(p), nil
}

// scrapeLog writes the errors of promhttp to the log, several in one line.
type scrapeLog struct{ log *slog.Logger }

// Println implements promhttp.Logger.
func (l scrapeLog) Println(v ...any) {
	text := strings.Join(strings.Fields(fmt.Sprintln(v...)), " ")
	l.log.Error("a scrape is incomplete", "err", text)
}
