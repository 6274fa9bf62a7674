package web

import (
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

const (
	// scrapesAtOnce is for two or three Prometheus servers and a person.
	scrapesAtOnce = 8
	// scrapeTimeout is far above what a snapshot takes and at Prometheus' own default.
	scrapeTimeout = 10 * time.Second
)

// metrics serves what the registry gathers. With a timeout set, promhttp gathers
// an answer in memory and frees its slot before it sends: clients that read
// slowly do not use up the slots.
func metrics(registry *prometheus.Registry, log *slog.Logger) http.Handler {
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{
		ErrorLog: scrapeLog{log},
		// One broken series must not hide all others; it is counted and logged.
		ErrorHandling:       promhttp.ContinueOnError,
		Registry:            registry,
		EnableOpenMetrics:   true,
		MaxRequestsInFlight: scrapesAtOnce,
		Timeout:             scrapeTimeout,
	})
}

// scrapeLog writes what promhttp has to say, several errors in one line.
type scrapeLog struct{ log *slog.Logger }

// Println implements promhttp.Logger.
func (l scrapeLog) Println(v ...any) {
	text := strings.Join(strings.Fields(fmt.Sprintln(v...)), " ")
	l.log.Error("a scrape is incomplete", "err", text)
}
