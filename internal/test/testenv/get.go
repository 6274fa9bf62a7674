package testenv

import (
	"context"
	"io"
	"net/http"
	"testing"
	"time"
)

// Get asks a server until it gets a complete answer. The server cuts off an answer that takes too
// long, which may happen on a machine that is slow or was suspended.
func Get(t testing.TB, patience time.Duration, url string) (code int, body string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	EventuallyWithin(t, patience, 200*time.Millisecond, "an answer of "+url, func() (whole bool) {
		asked := time.Now()
		defer func() {
			if !whole {
				t.Logf("no whole answer of %s after %s", url, time.Since(asked))
			}
		}()
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return false
		}
		defer response.Body.Close()
		content, err := io.ReadAll(response.Body)
		code, body = response.StatusCode, string(content)
		return err == nil
	})
	return code, body
}
