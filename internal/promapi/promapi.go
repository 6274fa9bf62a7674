// Package promapi asks the HTTP API of Prometheus, or of what has the same API: Thanos, Mimir.
package promapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/api"
	promv1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"

	"github.com/ssdprobe/ssdprobe/internal/printable"
	"github.com/ssdprobe/ssdprobe/internal/unreached"
)

// ErrUnauthorized says that the server, or a proxy before it, does not know who asks.
var ErrUnauthorized = errors.New("it answers 401 Unauthorized")

// maxAnswer bounds an answer of the server: 10 000 points of some dozen series
// take a few megabytes.
const maxAnswer = 256 << 20

// bounded is a transport whose answers end with an error after so many bytes: the
// client of the API reads them whole.
type bounded struct {
	http.RoundTripper
	bytes int64
}

// RoundTrip implements http.RoundTripper.
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := b.RoundTripper.RoundTrip(r)
	if err == nil {
		response.Body = http.MaxBytesReader(nil, response.Body, b.bytes)
	}
	return response, err
}

// Server is one that is asked.
type Server struct {
	address string
	api     promv1.API
}

// New returns the server at an address (a URL, with its path prefix if it has one), which is asked through the transport of client.
func New(address string, client *http.Client) (Server, error) {
	return newServer(address, client, maxAnswer)
}

func newServer(address string, client *http.Client, answerBytes int64) (Server, error) {
	asking := *client
	if asking.Transport == nil {
		asking.Transport = http.DefaultTransport
	}
	asking.Transport = bounded{asking.Transport, answerBytes}
	server, err := api.NewClient(api.Config{Address: address, Client: &asking})
	if err != nil {
		return Server{}, err
	}
	return Server{address, promv1.NewAPI(server)}, nil
}

// Range asks for the samples of a span of time. The query is posted, as it may be long.
func (s Server) Range(ctx context.Context, query string, from, to time.Time, step time.Duration) (model.Matrix, error) {
	answer, _, _, err := s.api.QueryRange(ctx, query, promv1.Range{Start: from, End: to, Step: step})
	return as[model.Matrix](s, answer, err)
}

// Now asks for the samples at a time. warnings say what may be missing: Thanos answers while one of its stores is away.
func (s Server) Now(ctx context.Context, query string, at time.Time) (found model.Vector, warnings []string, err error) {
	answer, said, _, err := s.api.Query(ctx, query, at)
	found, err = as[model.Vector](s, answer, err)
	return found, said, err
}

// status is in the errors of the library about an answer that is none of the API's.
var status = regexp.MustCompile(`^(?:client|server) error: (\d+)$`)

// unanswered is the error of an answer with such a status and body, of which the first line may say why.
func unanswered(code, body string) error {
	number, _ := strconv.Atoi(code) // of digits
	err := fmt.Errorf("it answers %s %s", code, http.StatusText(number))
	if number == http.StatusUnauthorized {
		err = ErrUnauthorized
	}
	why, _, _ := strings.Cut(strings.TrimSpace(body), "\n")
	if why == "" || len(why) > 100 || strings.HasPrefix(why, "<") { // a page for a browser
		return err
	}
	return fmt.Errorf("%w (%s)", err, printable.Text(why))
}

func as[T model.Value](s Server, answer model.Value, err error) (T, error) {
	var none T
	switch refused, tooLong := new(promv1.Error), new(http.MaxBytesError); {
	case errors.As(err, &refused) && status.MatchString(refused.Msg):
		return none, fmt.Errorf("%s: %w", s.address, unanswered(status.FindStringSubmatch(refused.Msg)[1], refused.Detail))
	case errors.As(err, &tooLong):
		return none, fmt.Errorf("%s: the answer is longer than %d bytes", s.address, tooLong.Limit)
	case err != nil:
		return none, fmt.Errorf("%s: %w", s.address, unreached.Why(err))
	}
	found, ok := answer.(T)
	if !ok {
		return none, fmt.Errorf("%s: a %s instead of a %s", s.address, answer.Type(), none.Type())
	}
	return found, nil
}
