// Package promtest runs a real Prometheus and a real Alertmanager for tests, on loopback, until the test ends.
//
//	s := promtest.Start(t, "scrape_configs: …")
//	for _, series := range s.Query(t, time.Now(), "ssdprobe_drift_ratio > 1.5") { … }
//
// It knows nothing about ssdprobe: the given configuration says what to scrape and which rules to
// load. It does not skip tests: without the programs of Debian's packages prometheus and
// prometheus-alertmanager, a test fails and says which one is missing.
package promtest
