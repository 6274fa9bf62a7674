// Package promapi queries the HTTP API of Prometheus, or of servers with the same API, such as Thanos and Mimir.
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

// ErrUnauthorized says that the server, or a proxy in front of it, does not accept the credentials of the request.
var ErrUnauthorized = errors.New("it answers 401 Unauthorized")

// maxAnswer is the largest answer of the server in bytes. 10 000 points of a few dozen series take a few megabytes.
const maxAnswer = 256 << 20

// bounded is a transport that fails an answer after so many bytes, because the API client reads answers whole.
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

// Server is a server to query.
type Server struct {
	address string
	api     promv1.API
}

// New returns the server at an address, a URL with its path prefix if it has one. Requests use the transport of client.
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

// Range queries the samples of a time range. The query is sent by POST, as it may be long. warnings say what may be
// missing: Thanos answers even while one of its stores is down.
func (s Server) Range(ctx context.Context, query string, from, to time.Time, step time.Duration) (found model.Matrix, warnings []string, err error) {
	answer, said, _, err := s.api.QueryRange(ctx, query, promv1.Range{Start: from, End: to, Step: step})
	found, err = as[model.Matrix](s, answer, err)
	return found, said, err
}

// Now queries the samples at a time. warnings are those of Range.
func (s Server) Now(ctx context.Context, query string, at time.Time) (found model.Vector, warnings []string, err error) {
	answer, said, _, err := s.api.Query(ctx, query, at)
	found, err = as[model.Vector](s, answer, err)
	return found, said, err
}

// status matches the library's errors about an answer that did not come from the API.
var status = regexp.MustCompile(`^(?:client|server) error: (\d+)$`)

// unanswered returns the error for an answer with such a status and body. The first line of the body may give the reason.
func unanswered(code, body string) error {
	number, _ := strconv.Atoi(code) // consists of digits
	err := fmt.Errorf("it answers %s %s", code, http.StatusText(number))
	if number == http.StatusUnauthorized {
		err = ErrUnauthorized
	}
	why, _, _ := strings.Cut(strings.TrimSpace(body), "\n")
	if why == "" || len(why) > 100 || strings.ContainsAny(why[:1], "<{") { // an HTML page, JSON, or nothing short enough to quote
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
