package config_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/ssdprobe/ssdprobe/internal/config"
)

// validator is the schema, compiled by the validator that Helm uses.
var validator = sync.OnceValues(func() (*jsonschema.Schema, error) {
	text, err := config.Schema()
	if err != nil {
		return nil, err
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", document); err != nil {
		return nil, err
	}
	return c.Compile("schema.json")
})

// bySchema validates a file against the schema, and reads it as Helm reads its values.
func bySchema(t *testing.T, text string) error {
	t.Helper()
	s, err := validator()
	require.NoError(t, err)
	asJSON, err := yaml.YAMLToJSON([]byte(text))
	require.NoError(t, err, text)
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(asJSON))
	require.NoError(t, err)
	return s.Validate(document)
}

// sections calls visit with the schema of every section, and with a function that makes a file with that section.
func sections(t *testing.T, visit func(at string, keys map[string]any, file func(more string) string)) {
	t.Helper()
	text, err := config.Schema()
	require.NoError(t, err)
	var root map[string]any
	require.NoError(t, json.Unmarshal(text, &root))
	var walk func(at string, s map[string]any, file func(string) string)
	walk = func(at string, s map[string]any, file func(string) string) {
		if items, ok := s["items"].(map[string]any); ok {
			walk(at+"[]", items, func(inner string) string { return file("[" + inner + "]") })
		}
		keys, ok := s["properties"].(map[string]any)
		if !ok {
			return
		}
		visit(at, keys, file)
		for key, of := range keys {
			walk(at+"."+key, of.(map[string]any), func(inner string) string { return file(fmt.Sprintf("{%s: %s}", key, inner)) })
		}
	}
	walk("", root, func(inner string) string { return inner })
}

// Both the schema and the check reject an unknown key at every depth.
func TestSchemaRefusesUnknownKeys(t *testing.T) {
	visited := 0
	sections(t, func(at string, keys map[string]any, file func(string) string) {
		visited++
		for key := range keys {
			typo := file("{" + key + "x: 1}")
			_, err := parse(typo)
			require.ErrorContains(t, err, key+"x: is not a key here", at)
			err = bySchema(t, typo)
			require.ErrorContains(t, err, "additional properties '"+key+"x' not allowed", at)
		}
	})
	assert.Equal(t, 16, visited, "the file and all sections in it")
}

// Each limit of a number is the same in the schema and the check. Only the check has limits of texts with a unit.
func TestSchemaHasTheLimitsOfTheCheck(t *testing.T) {
	tried := 0
	sections(t, func(at string, keys map[string]any, file func(string) string) {
		for key, of := range keys {
			with := func(value float64) string {
				return file("{" + key + ": " + strconv.FormatFloat(value, 'f', -1, 64) + "}")
			}
			step := 0.0001
			if strings.Contains(fmt.Sprint(of.(map[string]any)["type"]), "integer") {
				step = 1
			}
			for limit, outward := range map[string]float64{"minimum": -step, "maximum": step} {
				value, ok := of.(map[string]any)[limit].(float64)
				if !ok {
					continue
				}
				tried++
				beyond := with(value + outward)
				_, err := parse(beyond)
				require.ErrorContains(t, err, key+": ", "%s %s", at, limit)
				require.ErrorContains(t, bySchema(t, beyond), "/"+key+"': ", "%s %s", at, limit)
				_, err = parse(with(value))
				if err != nil { // other required keys of the section are missing
					require.NotContains(t, err.Error(), key+": ", "%s %s", at, limit)
				}
			}
		}
	})
	assert.Greater(t, tried, 30)
}

// The schema knows every key of the check: a file with all keys passes both.
func TestSchemaTakesTheCommentedFile(t *testing.T) {
	text, err := os.ReadFile("../../deploy/ssdprobe.yaml")
	require.NoError(t, err)
	require.NoError(t, bySchema(t, string(text)))
}

func TestSchemaRefusesWhatTheCheckRefuses(t *testing.T) {
	for _, test := range []struct{ text, at, wrong string }{
		{"rounds_at_once: 65", "/rounds_at_once", "maximum: got 65, want 64"},
		{"rounds_at_once: many", "/rounds_at_once", "got string, want integer"},
		{"discovery_interval: 10", "/discovery_interval", "got number, want string"},
		{"discovery_interval: 5 minutes", "/discovery_interval", "does not match pattern"},
		{"drift: {window: 1h30}", "/drift/window", "does not match pattern"},
		{"drift: {threshold: 0}", "/drift/threshold", "minimum: got 0, want 0.01"},
		{"drift: {smallest_effect: 10 percent}", "/drift/smallest_effect", "does not match pattern"},
		{"drift: {smallest_effect: tiny}", "/drift/smallest_effect", "does not match pattern"},
		{"drift: {data_sheets: [{model: a, random-read: 2 GiB/s}]}", "/drift/data_sheets/0/random-read", "does not match pattern"},
		{"drift: {data_sheets: [{model: a, random-write: 40k at 16KB}]}", "/drift/data_sheets/0/random-write", "does not match pattern"},
		{"drift: {data_sheets: [{random-read: 2k}]}", "/drift/data_sheets/0", "missing property 'model'"},
		{"drift: {data_sheets: [{model: a}]}", "/drift/data_sheets/0", "minProperties: got 1, want 2"},
		{"fill_rate: 999Kib", "/fill_rate", "does not match pattern"},
		{"fill_rate: 1048575", "/fill_rate", "minimum: got 1.048575"},
		{"fill_rate: 128M", "/fill_rate", "does not match pattern"},
		{"listen: []", "/listen", "minItems: got 0, want 1"},
		{"listen: ['10040']", "/listen/0", "does not match pattern"},
		{"state_dir: var/lib", "/state_dir", "does not match pattern"},
		{"state_dir: null", "/state_dir", "got null, want string"},
		{"devices: {enabled: 1}", "/devices/enabled", "got number, want boolean"},
		{"devices: {include: [{}]}", "/devices/include/0", "minProperties: got 0, want 1"},
		{"devices: {include: [{transport: nvme}]}", "/devices/include/0/transport", "value must be one of 'pcie', 'tcp'"},
		{"devices: {include: [null]}", "/devices/include/0", "got null, want object"},
		{"devices: {exclude: {name: sda}}", "/devices/exclude", "got object, want null or array"},
		{"files: [{size: 1GiB}]", "/files/0", "missing property 'path'"},
		{"probes: [{name: Read}]", "/probes/0/name", "does not match pattern"},
		{"probes: [{name: a, direction: reed}]", "/probes/0/direction", "value must be one of 'read', 'write'"},
		{"probes: [{name: a, block_size: 511}]", "/probes/0/block_size", "minimum: got 511, want 512"},
		{"runs: [{suite: quick}]", "/runs/0", "missing property 'schedule'"},
		{"runs: [{suite: quick, schedule: 30 3 * *}]", "/runs/0/schedule", "does not match pattern"},
		{"runs: [{suite: quick, schedule: '@every 1h'}]", "/runs/0/schedule", "does not match pattern"},
		{"runs: [{suite: quick, schedule: '@daily', window: 8 days}]", "/runs/0/window", "does not match pattern"},
		{"kubernetes: {taint: NoExecute}", "/kubernetes/taint", "value must be one of 'none', 'PreferNoSchedule', 'NoSchedule'"},
		{"fleet: {lease: -a}", "/fleet/lease", "does not match pattern"},
	} {
		_, err := parse(test.text)
		require.Error(t, err, test.text)
		err = bySchema(t, test.text)
		require.Error(t, err, test.text)
		assert.Contains(t, err.Error(), "at '"+test.at+"': ", test.text)
		assert.Contains(t, err.Error(), test.wrong, test.text)
	}
}

func TestSchemaTakesWhatTheCheckTakes(t *testing.T) {
	for _, text := range []string{
		"", "---\n", "devices:\nadmission:\nprobes:\nfiles:\n", "probes: []",
		"discovery_interval: 1s\ndrift: {window: 1h30m}", "discovery_interval: 1000ms\ndrift: {window: 0.5m}", "drift: {window: 1d12h}", "drift: {window: 007m}",
		"fill_rate: 1048576\nadmission: {write_budget_per_day: 0}", "fill_rate: 2 MB", "fill_rate: 1TB",
		"admission: {max_utilisation: 75%, max_cpu_wait: 0.1, max_io_pressure: 1}\ndrift: {threshold: 150 %, smallest_effect: 1.5%}",
		"admission: {max_utilisation: auto, max_in_flight: auto, max_io_pressure: auto, forced_interval: 0s}", "admission: {max_in_flight: 32}",
		"listen: ['127.0.0.1:0', '[::1]:9', ':10040']",
		"devices: {include: [{min_size: 1, transport: mmc}], exclude: [{name: 'sd*'}]}",
		"files: [{path: /a, size: 16MiB}, {path: /b, size: 16777216}]\nprobes: []",
		"probes: [{name: a, block_size: 16MiB, ios: 2, warmup_ios: 0, timeout: 100ms}]",
		"runs: [{suite: quick, schedule: '30 3 * * 0', window: 7d, max_others: 100%, set: [time=30s], targets: ['nvme*']}, {suite: quick, schedule: '@daily'}, {suite: quick, schedule: '*/5 1-3,5 ? JAN mon'}]",
		"drift: {data_sheets: [{model: a*, random-read: 0.85M IOPS, random-write: 850000, sequential-write: 3GB/s at 1MiB, random-write-latency: 12.5 us at 16 KiB}]}",
		"kubernetes: {enabled: true, taint: NoSchedule, max_taints: 3, namespace: other, kubeconfig: /etc/kubeconfig}",
		"fleet: {enabled: true, max_runs: 3, lease: slow, namespace: other, kubeconfig: /etc/kubeconfig, lease_duration: 90s}",
	} {
		_, err := parse(text)
		require.NoError(t, err, text)
		require.NoError(t, bySchema(t, text), text)
	}
}

// A value that YAML takes for another type would not arrive as written: 007 becomes 7.
func TestSchemaWantsTextsQuotedAndNumbersBare(t *testing.T) {
	for _, text := range []string{"node: 007", "devices: {include: [{id: 5002e38}]}", "rounds_at_once: '2'", "fallback_file: 'false'"} {
		_, err := parse(text)
		require.NoError(t, err, text)
		require.Error(t, bySchema(t, text), text)
	}
	require.NoError(t, bySchema(t, "node: '007'"))
}

// takes fails if the schema rejects a configuration that the check accepts, as `ssdprobe config show` writes it.
func takes(t *testing.T, c config.Config) {
	t.Helper()
	written, err := c.YAML()
	require.NoError(t, err)
	require.NoError(t, bySchema(t, string(written)), strings.TrimSpace(string(written)))
}
