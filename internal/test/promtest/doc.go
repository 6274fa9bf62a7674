// Package promtest runs a real Prometheus and a real Alertmanager for tests, on loopback, until the test ends.
//
//	s := promtest.Start(t, "scrape_configs: …")
//	for _, series := range s.Query(t, time.Now(), "ssdprobe_drift_ratio > 1.5") { … }
//
// It knows nothing of ssdprobe: what is scraped and which rules are loaded is in the configuration that it is
// given. It refuses to skip: without the programs of Debian's packages prometheus and prometheus-alertmanager the
// test fails and says which one is missing.
package promtest
