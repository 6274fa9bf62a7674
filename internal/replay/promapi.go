package replay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// maxAnswer bounds an answer of the server: 10 000 points of some dozen series
// take a few megabytes.
const maxAnswer = 256 << 20

// rangeAnswer is the answer of /api/v1/query_range
// (https://prometheus.io/docs/prometheus/latest/querying/api/#range-queries).
type rangeAnswer struct {
	Status string `json:"status"`
	Error  string `json:"error"`
	Data   struct {
		ResultType string   `json:"resultType"`
		Result     []series `json:"result"`
	} `json:"data"`
}

type series struct {
	Metric map[string]string `json:"metric"`
	Values []sample          `json:"values"`
}

// sample is a pair of unix seconds and a value, which is written as a string.
type sample struct {
	at    int64 // unix milliseconds
	value float64
}

// UnmarshalJSON reads the pair.
func (s *sample) UnmarshalJSON(data []byte) error {
	var at float64
	var text string
	if err := json.Unmarshal(data, &[2]any{&at, &text}); err != nil {
		return fmt.Errorf("sample %s: %w", data, err)
	}
	value, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return fmt.Errorf("sample %s: %w", data, err)
	}
	*s = sample{at: int64(at*1e3 + 0.5), value: value}
	return nil
}

// rangeQuery asks the server. The query is posted, as it may be long.
func (p *Prometheus) rangeQuery(ctx context.Context, query string, from, to time.Time) (found []series, err error) {
	form := url.Values{
		"query": {query}, "step": {strconv.FormatFloat(p.query.Step.Seconds(), 'f', -1, 64)},
		"start": {strconv.FormatInt(from.Unix(), 10)}, "end": {strconv.FormatInt(to.Unix(), 10)},
	}
	where := strings.TrimRight(p.query.URL, "/") + "/api/v1/query_range"
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, where, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := p.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", where, err)
	}
	if len(body) > maxAnswer {
		return nil, fmt.Errorf("%s: the answer is longer than %d bytes", where, maxAnswer)
	}
	var answer rangeAnswer
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, fmt.Errorf("%s: %s, and no answer of prometheus: %w", where, response.Status, err)
	}
	if answer.Status != "success" {
		return nil, fmt.Errorf("%s: %s: %s", where, response.Status, answer.Error)
	}
	if answer.Data.ResultType != "matrix" {
		return nil, fmt.Errorf("%s: a %s instead of a matrix", where, answer.Data.ResultType)
	}
	return answer.Data.Result, nil
}
