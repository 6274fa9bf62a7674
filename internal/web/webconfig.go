package web

import (
	"crypto/tls"
	"fmt"
	"os"
	"path/filepath"

	toolkit "github.com/prometheus/exporter-toolkit/web"
	"go.yaml.in/yaml/v3"
)

// ConfigError means that the web config file is missing or invalid.
type ConfigError struct{ err error }

func (e *ConfigError) Error() string { return e.err.Error() }

// Unwrap returns the underlying error.
func (e *ConfigError) Unwrap() error { return e.err }

// checkWebConfig checks the file and returns whether it enables TLS. Errors: *ConfigError, and others for the files that it
// names. These may come later: whoever issues or mounts certificates may not be done when the machine has started.
func checkWebConfig(path string) (encrypted bool, err error) {
	if path == "" {
		return false, nil
	}
	invalid := toolkit.Validate(path)
	text, err := os.ReadFile(path)
	var parsed toolkit.Config
	if err == nil {
		err = yaml.Unmarshal(text, &parsed)
	}
	if invalid == nil {
		invalid = err
	}
	if invalid == nil {
		return parsed.TLSConfig.IsEnabled(), nil
	}
	invalid = fmt.Errorf("web config file %s (--web.config.file): %w", path, invalid)
	parsed.TLSConfig.SetDirectory(filepath.Dir(path))
	if err == nil && lacksFiles(parsed.TLSConfig) {
		return false, invalid
	}
	return false, &ConfigError{invalid}
}

// lacksFiles reports whether a certificate or key that is named cannot be read, or does not belong to the other.
func lacksFiles(c toolkit.TLSConfig) bool {
	if c.TLSCertPath+c.TLSCert == "" || c.TLSKeyPath+string(c.TLSKey) == "" {
		return false // it names only one of them
	}
	for _, path := range []string{c.TLSCertPath, c.TLSKeyPath, c.ClientCAs} {
		if path == "" {
			continue
		}
		if _, err := os.ReadFile(path); err != nil {
			return true
		}
	}
	if c.TLSCertPath == "" || c.TLSKeyPath == "" {
		return false
	}
	_, err := tls.LoadX509KeyPair(c.TLSCertPath, c.TLSKeyPath)
	return err != nil
}
