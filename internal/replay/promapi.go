package replay

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/api"
	promv1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"
)

// maxAnswer bounds an answer of the server: 10 000 points of some dozen series
// take a few megabytes.
const maxAnswer = 256 << 20

// bounded is a transport whose answers end with an error after maxAnswer bytes: the
// client of the API reads them whole.
type bounded struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := b.RoundTripper.RoundTrip(r)
	if err == nil {
		response.Body = http.MaxBytesReader(nil, response.Body, maxAnswer)
	}
	return response, err
}

// newAPI returns a client of the server at an address, which asks through the transport of client.
func newAPI(address string, client *http.Client) (promv1.API, error) {
	asking := *client
	if asking.Transport == nil {
		asking.Transport = http.DefaultTransport
	}
	asking.Transport = bounded{asking.Transport}
	server, err := api.NewClient(api.Config{Address: address, Client: &asking})
	if err != nil {
		return nil, err
	}
	return promv1.NewAPI(server), nil
}

// rangeQuery asks the server. The query is posted, as it may be long.
func (p *Prometheus) rangeQuery(ctx context.Context, query string, from, to time.Time) (model.Matrix, error) {
	answer, _, _, err := p.api.QueryRange(ctx, query, promv1.Range{Start: from, End: to, Step: p.query.Step})
	switch {
	case errors.As(err, new(*http.MaxBytesError)):
		return nil, fmt.Errorf("%s: the answer is longer than %d bytes", p.query.URL, maxAnswer)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", p.query.URL, err)
	}
	found, ok := answer.(model.Matrix)
	if !ok {
		return nil, fmt.Errorf("%s: a %s instead of a matrix", p.query.URL, answer.Type())
	}
	return found, nil
}
