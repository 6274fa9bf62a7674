package web

import (
	"bytes"
	"cmp"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzhttp"
	"github.com/klauspost/compress/gzip"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"
)

// scrapesAtOnce is for two or three Prometheus servers and a person.
const scrapesAtOnce = 8

// Metrics is what a prometheus.Registry does.
type Metrics interface {
	prometheus.Registerer
	prometheus.Gatherer
}

// Lender is a Metrics that can gather in memory which it gets back.
type Lender interface {
	Metrics
	Lend() (families []*dto.MetricFamily, done func(), err error)
}

// lent is a Lender's prometheus.TransactionalGatherer.
type lent struct{ Lender }

func (l lent) Gather() ([]*dto.MetricFamily, func(), error) { return l.Lend() }

func transactional(registry Metrics) prometheus.TransactionalGatherer {
	if lender, ok := registry.(Lender); ok {
		return lent{lender}
	}
	return prometheus.ToTransactionalGatherer(registry)
}

// metrics serves what the registry gathers.
func metrics(registry Metrics, sender *sender) http.Handler {
	gathered := promhttp.HandlerForTransactional(transactional(registry), promhttp.HandlerOpts{
		ErrorLog: scrapeLog{sender.log},
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
	return inOnePiece(compressed(gathered), sender)
}

// inOnePiece keeps an answer in memory until h has made all of it, which ends h before
// anything is sent: clients that read slowly do not use up the slots.
func inOnePiece(h http.Handler, sender *sender) http.Handler {
	buffers := sync.Pool{New: func() any { return new(bytes.Buffer) }}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := buffers.Get().(*bytes.Buffer) //nolint:forcetypeassert // nothing else is put there
		body.Reset()
		answer := &keptAnswer{header: w.Header(), body: body}
		h.ServeHTTP(answer, r)
		status := cmp.Or(answer.status, http.StatusOK)
		if body.Len() <= smallBytes { // a refusal is not worth the buffer of a scrape
			small := bytes.Clone(body.Bytes())
			buffers.Put(body)
			sender.send(w, status, small)
			return
		}
		if sender.send(w, status, body.Bytes()) {
			buffers.Put(body)
		}
	})
}

// keptAnswer is an http.ResponseWriter that sends nothing.
type keptAnswer struct {
	header http.Header
	body   *bytes.Buffer
	status int // 0 until it is known
}

func (k *keptAnswer) Header() http.Header { return k.header }

func (k *keptAnswer) Write(part []byte) (int, error) {
	k.WriteHeader(http.StatusOK)
	return k.body.Write(part)
}

// WriteHeader keeps the first status, as a server sends the first.
func (k *keptAnswer) WriteHeader(status int) {
	if k.status == 0 && status >= http.StatusOK {
		k.status = status
	}
}

// scrapeLog writes what promhttp has to say, several errors in one line.
type scrapeLog struct{ log *slog.Logger }

// Println implements promhttp.Logger.
func (l scrapeLog) Println(v ...any) {
	text := strings.Join(strings.Fields(fmt.Sprintln(v...)), " ")
	l.log.Error("a scrape is incomplete", "err", text)
}
