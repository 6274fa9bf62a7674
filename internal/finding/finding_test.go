package finding

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

func now() time.Time { return time.Date(2026, 5, 4, 13, 2, 11, 0, time.UTC) }

// sound returns a probe without findings.
func sound() record.ProbeStatus {
	return record.ProbeStatus{
		Probe: record.DefaultProbes()[0], LastSuccess: now().Add(-10 * time.Second),
		Last: &record.Measurement{Start: now().Add(-10 * time.Second), Outcome: record.OutcomeOK},
	}
}

func snapshot(probes ...record.ProbeStatus) record.Snapshot {
	return record.Snapshot{
		Time: now(), Started: now().Add(-time.Hour),
		Targets: []record.TargetStatus{{ID: "eui.1", Path: "/dev/nvme0n1", Device: record.Device{Name: "nvme0n1"}, Probes: probes}},
	}
}

func TestFindingsOfAProbe(t *testing.T) {
	link := record.Change{Condition: "pcie_link", From: "16 GT/s x4", To: "8 GT/s x4"}
	for name, c := range map[string]struct {
		change func(*record.ProbeStatus)
		want   []Finding
	}{
		"nothing":                    {func(*record.ProbeStatus) {}, []Finding{}},
		"a round that is on its way": {func(p *record.ProbeStatus) { p.InflightSince = now().Add(-time.Second) }, []Finding{}},
		"a round that does not end": {
			func(p *record.ProbeStatus) { p.InflightSince = now().Add(-3 * time.Minute) },
			[]Finding{{
				Severity: Critical, Code: "hung", Since: now().Add(-3 * time.Minute),
				Text: "the device does not answer", Evidence: []string{"a round did not end within 20 s"},
			}},
		},
		"a round that timed out hides that none was good": {
			func(p *record.ProbeStatus) {
				p.LastSuccess, p.Last.Outcome = time.Time{}, record.OutcomeTimeout
			},
			[]Finding{{
				Severity: Critical, Code: "hung", Since: now().Add(-10 * time.Second),
				Text: "the device does not answer", Evidence: []string{"a round did not end within 20 s"},
			}},
		},
		"no good round for a while": {
			func(p *record.ProbeStatus) {
				p.LastSuccess, p.Last.Outcome, p.Last.Reason = now().Add(-6*time.Minute), record.OutcomeBusy, "utilisation 97 %"
			},
			[]Finding{{
				Severity: Warning, Code: "stale", Since: now().Add(-6 * time.Minute),
				Text: "not measured", Evidence: []string{"the last round was busy, utilisation 97 %"},
			}},
		},
		"never a good round": {
			func(p *record.ProbeStatus) { p.LastSuccess, p.Last = time.Time{}, nil },
			[]Finding{{
				Severity: Warning, Code: "stale", Since: now().Add(-time.Hour),
				Text: "not measured", Evidence: []string{"no round has been run"},
			}},
		},
		"errors in the past": {
			func(p *record.ProbeStatus) {
				p.Errors, p.LastError = map[string]uint64{"EIO": 2, "ENODATA": 1}, now().Add(-20*time.Minute)
			},
			[]Finding{{
				Severity: Warning, Code: "io_errors",
				Text:     "3 I/Os failed since ssdprobe started at 2026-05-04 12:02 UTC",
				Evidence: []string{"2 EIO", "1 ENODATA", "the last at 2026-05-04 12:42 UTC"},
			}},
		},
		"errors now": {
			func(p *record.ProbeStatus) {
				p.Errors, p.LastError = map[string]uint64{"EIO": 1}, now()
				p.Last.Outcome, p.Last.Errors = record.OutcomeError, map[string]int64{"EIO": 1}
			},
			[]Finding{{
				Severity: Critical, Code: "io_errors", Since: now().Add(-10 * time.Second),
				Text: "1 I/O failed since ssdprobe started at 2026-05-04 12:02 UTC", Evidence: []string{"1 EIO"},
			}},
		},
		"slower, with a cause told once": {
			func(p *record.ProbeStatus) {
				p.Drift = []record.Drift{
					{Statistic: record.LatencyP50, State: record.Regressed, Since: now().Add(-time.Minute), Ratio: 1.5, Lower: 1.4, Upper: 1.6, Attribution: []record.Change{link}},
					{Statistic: record.LatencyP95, State: record.Stable, Since: now().Add(-time.Hour), Ratio: 1},
					{Statistic: record.IOPS, State: record.Regressed, Since: now().Add(-2 * time.Minute), Ratio: 1.3, Attribution: []record.Change{link}},
				}
			},
			[]Finding{{
				Severity: Warning, Code: "regressed", Since: now().Add(-2 * time.Minute),
				Text:     "slower than its baseline",
				Evidence: []string{"p50 1.50× (1.40× to 1.60×)", "IOPS 1.30×", "changed with it: PCIe link 16 GT/s x4 → 8 GT/s x4"},
			}},
		},
		"slower, with no cause": {
			func(p *record.ProbeStatus) {
				p.Drift = []record.Drift{{Statistic: record.LatencyP99, State: record.Regressed, Since: now(), Ratio: 1, Cause: "slow_rounds"}}
			},
			[]Finding{{
				Severity: Warning, Code: "regressed", Since: now(), Text: "slower than its baseline",
				Evidence: []string{"p99 slow rounds have become common; the others are as before"},
				Action:   "no change of conditions found; suspect the drive",
			}},
		},
		"slower, and maybe by more statistics": {
			func(p *record.ProbeStatus) {
				p.Drift = []record.Drift{
					{Statistic: record.LatencyP50, State: record.Regressed, Since: now(), Ratio: 1.5, Attribution: []record.Change{link}},
					{Statistic: record.LatencyP99, State: record.Suspect, Since: now(), Ratio: 1.2},
				}
			},
			[]Finding{{
				Severity: Warning, Code: "regressed", Since: now(), Text: "slower than its baseline",
				Evidence: []string{"p50 1.50×", "changed with it: PCIe link 16 GT/s x4 → 8 GT/s x4"},
			}},
		},
		"maybe slower": {
			func(p *record.ProbeStatus) {
				p.Drift = []record.Drift{{Statistic: record.LatencyP99, State: record.Suspect, Since: now(), Ratio: 1.2}}
			},
			[]Finding{{
				Severity: Warning, Code: "suspect", Since: now(),
				Text: "may be slower than its baseline", Evidence: []string{"p99 1.20×"},
			}},
		},
		"faster is no finding": {
			func(p *record.ProbeStatus) {
				p.Drift = []record.Drift{{Statistic: record.LatencyP99, State: record.Improved, Since: now(), Ratio: 0.8}}
			},
			[]Finding{},
		},
		"a number that may be wrong": {
			func(p *record.ProbeStatus) {
				p.Last.Warnings = []record.Warning{{Code: record.WarnPoolSmall, Text: "few written blocks"}}
			},
			[]Finding{{Severity: Warning, Code: "pool_small", Text: "few written blocks"}},
		},
		"a warning that needs no action": {
			func(p *record.ProbeStatus) {
				p.Last.Warnings = []record.Warning{{Code: record.WarnRemote, Text: "over a network"}}
			},
			[]Finding{{Severity: Info, Code: "remote", Text: "over a network"}},
		},
		"a warning of a newer daemon": {
			func(p *record.ProbeStatus) { p.Last.Warnings = []record.Warning{{Code: "new", Text: "something new"}} },
			[]Finding{{Severity: Warning, Code: "new", Text: "something new"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := sound()
			c.change(&p)
			for i := range c.want {
				f := &c.want[i]
				f.TargetID, f.Path, f.Device, f.Probe = "eui.1", "/dev/nvme0n1", "nvme0n1", "read-4k"
				if f.Action == "" {
					f.Action = found(f.Code, "").Action
				}
			}
			assert.Equal(t, c.want, Of(snapshot(p)))
		})
	}
}

// Errors that stopped long ago do not look like ones of now, whatever the last round was.
func TestErrorsOfLongAgo(t *testing.T) {
	last := record.Measurement{Start: now(), Outcome: record.OutcomeError, Reason: "the load of the device cannot be read"}
	for _, c := range []struct {
		ago  time.Duration
		want Severity
		text string
	}{
		{23 * time.Hour, Warning, "1 I/O failed since ssdprobe started at 2026-05-01 13:02 UTC: 1 EIO, the last at 2026-05-03 14:02 UTC"},
		{25 * time.Hour, Info, "1 I/O failed since ssdprobe started at 2026-05-01 13:02 UTC, but none within a day: 1 EIO, the last at 2026-05-03 12:02 UTC"},
	} {
		p := sound()
		p.Errors, p.LastError, p.Last = map[string]uint64{"EIO": 1}, now().Add(-c.ago), &last
		s := snapshot(p)
		s.Started = now().Add(-3 * 24 * time.Hour)
		all := Of(s)
		require.Len(t, all, 1)
		assert.Equal(t, IOErrors, all[0].Code)
		assert.Equal(t, c.want, all[0].Severity)
		assert.Equal(t, c.text, all[0].String())
		assert.Zero(t, all[0].Since, "it does not go on")
	}
}

func TestFindingsWorstFirst(t *testing.T) {
	hung, slower, stale := sound(), sound(), sound()
	slower.Probe, stale.Probe = record.DefaultProbes()[1], record.DefaultProbes()[2]
	hung.InflightSince = now().Add(-time.Hour)
	slower.Drift = []record.Drift{{Statistic: record.LatencyP50, State: record.Regressed, Since: now(), Ratio: 2}}
	stale.LastSuccess = now().Add(-30 * time.Minute)
	s := snapshot(stale, slower, hung)
	s.Warnings = []record.Warning{{Code: record.WarnState, Text: "the state cannot be written: disk full and slow"}}
	s.Collectors = []record.CollectorStatus{
		{Collector: "devices", Success: true}, {Collector: "pressure", Error: "no such file"}, {Collector: "state", Error: "disk full\nand slow"},
	}
	s.Targets = append(s.Targets, record.TargetStatus{ID: "eui.2", Problem: "permission denied", Probes: []record.ProbeStatus{stale}})

	var codes []string
	s.NotReady = "devices are being discovered"
	for _, f := range Of(s) {
		codes = append(codes, f.Code)
	}
	assert.Equal(t, []string{"hung", "cannot_probe", "regressed", "not_ready", "stale", "collector", "state"}, codes,
		"a problem of the target explains its lack of rounds, and a warning its collector")
}

// A refused reload is about the configuration, like a file that was changed and not loaded: the same code, advice and
// alert. Its error has a line for each problem.
func TestARefusedReloadIsAboutTheConfiguration(t *testing.T) {
	s := snapshot(sound())
	s.Collectors = []record.CollectorStatus{{Collector: "configuration", Error: "configuration /etc/c.yaml:\nline 1: node: is empty\nline 3: foo: is unknown"}}
	all := Of(s)
	require.Len(t, all, 1)
	i := slices.IndexFunc(Kinds(), func(k Kind) bool { return k.Code == record.WarnConfigFile })
	assert.Equal(t, Finding{
		Severity: Warning, Code: record.WarnConfigFile, Text: "the new configuration is refused, and the old one stays in force",
		Evidence: []string{"configuration /etc/c.yaml: line 1: node: is empty; line 3: foo: is unknown"}, Action: Kinds()[i].Action,
	}, all[0])

	// The daemon looks at the file itself, too, and then tells the same.
	s.Warnings = []record.Warning{{Code: record.WarnConfigFile, Text: "changed; it would be refused: " + strings.Join(strings.Fields(s.Collectors[0].Error), " ")}}
	assert.Len(t, Of(s), 1)
}

// A finding is shown on one line, where a line feed would be shown as \n.
func TestFindingsHaveOneLine(t *testing.T) {
	s := snapshot(sound())
	s.Targets[0].Problem = "first\nsecond"
	s.Warnings = []record.Warning{{Code: record.WarnState, Text: "save:\nfirst\nsecond\n"}}
	all := Of(s)
	require.Len(t, all, 2)
	assert.Equal(t, "cannot be probed: first; second", all[0].String())
	assert.Equal(t, "save: first; second", all[1].String())
}

func TestGroupsTellOnceWhatHoldsForAll(t *testing.T) {
	governor := Finding{Severity: Warning, Code: "governor", Text: "saves power", TargetID: "a", Path: "/dev/a", Device: "a"}
	collector := Finding{Severity: Warning, Code: "collector", Text: "broken", Evidence: []string{"not permitted"}}
	drive, file, probe, otherProbe := governor, governor, governor, governor
	drive.TargetID, drive.Path, drive.Device = "b", "/dev/b", "b"
	file.TargetID, file.Path = "c", "/srv/c"
	probe.Probe, otherProbe.Probe = "read-4k", "read-128k"
	for _, c := range []struct {
		all      []Finding
		count    string
		subjects []Subject
	}{
		{[]Finding{collector}, "", []Subject{{"", "this node"}}},
		{[]Finding{governor}, "", []Subject{{"a", "/dev/a"}}},
		{[]Finding{governor, governor}, "", []Subject{{"a", "/dev/a"}}},
		{[]Finding{governor, drive}, "2 drives", []Subject{{"a", "/dev/a"}, {"b", "/dev/b"}}},
		{[]Finding{governor, drive, file}, "3 targets", []Subject{{"a", "/dev/a"}, {"b", "/dev/b"}, {"c", "/srv/c on a"}}},
		{[]Finding{probe, otherProbe}, "2 probes", []Subject{{"a", "/dev/a read-4k"}, {"a", "/dev/a read-128k"}}},
	} {
		groups := Groups(c.all)
		require.Len(t, groups, 1)
		assert.Equal(t, c.all[0], groups[0].Finding)
		assert.Equal(t, c.subjects, groups[0].Subjects)
		assert.Equal(t, c.count, groups[0].Count())
	}
	assert.Len(t, Groups([]Finding{governor, drive, collector}), 2)
}

func TestADriveThatMayNotBeReadIsAFinding(t *testing.T) {
	s := snapshot(sound())
	s.Ignored = []record.Ignored{
		{Device: record.Device{Name: "sda"}, Reason: "excluded by the configuration"},
		{Device: record.Device{Name: "sdb"}, Reason: "no permission to read the device node", Denied: true},
	}
	want := found(NotWatched, "not watched", "no permission to read the device node")
	want.Path, want.Device = "/dev/sdb", "sdb"
	assert.Equal(t, []Finding{want}, Of(s))
}

func TestWhatTheDriveSaysOfItselfComesFirst(t *testing.T) {
	s := snapshot(sound())
	s.Targets[0].Warnings = []record.Warning{
		{Code: record.WarnUnwritten, Text: "mostly unwritten"}, {Code: record.WarnDriveCritical, Text: "it fails"},
	}
	all := Of(s)
	require.Len(t, all, 2)
	assert.Equal(t, []any{record.WarnDriveCritical, Critical, "it fails"}, []any{all[0].Code, all[0].Severity, all[0].String()})
	assert.Equal(t, Info, all[1].Severity)
}

// The metrics of a second target or probe of the same name are not exported, because
// Prometheus would reject the whole scrape.
func TestASecondOfANameIsAFinding(t *testing.T) {
	s := snapshot(sound(), sound())
	s.Targets = append(s.Targets, record.TargetStatus{ID: "eui.1", Path: "/dev/nvme9n1"})
	var subjects []string
	for _, f := range Of(s) {
		assert.Equal(t, record.WarnDuplicate, f.Code)
		subjects = append(subjects, f.Path+" "+f.Probe)
	}
	assert.Equal(t, []string{"/dev/nvme0n1 read-4k", "/dev/nvme9n1 "}, subjects)
}

func TestOnlyWhatADaemonDoesCanBeStale(t *testing.T) {
	s := snapshot(record.ProbeStatus{Probe: record.DefaultProbes()[0]})
	s.Started = time.Time{} // read from the state directory
	assert.Empty(t, Of(s))
}

// Nothing blocks the rounds of an empty drive, or of one whose reads fail.
func TestAdviceAboutMissingRoundsFitsTheLastRound(t *testing.T) {
	for outcome, advice := range map[record.Outcome]string{
		record.OutcomeBusy:     found(Stale, "").Action,
		record.OutcomeUnmapped: found(record.WarnPoolSmall, "").Action,
		record.OutcomeError:    found(IOErrors, "").Action,
	} {
		all := Of(snapshot(record.ProbeStatus{
			Probe: record.DefaultProbes()[0], LastSuccess: now().Add(-10 * time.Hour), Last: &record.Measurement{Outcome: outcome},
		}))
		require.Equal(t, []string{Stale}, codes(all), outcome)
		assert.Equal(t, advice, all[0].Action, outcome)
	}
}

func TestQuietHoursAreNoFault(t *testing.T) {
	s := snapshot(record.ProbeStatus{Probe: record.DefaultProbes()[0], LastSuccess: now().Add(-10 * time.Hour)})
	assert.Equal(t, []string{Stale}, codes(Of(s)))
	s.QuietUntil = time.Date(2026, 11, 23, 20, 0, 0, 0, time.FixedZone("CET", 2*60*60)) // that of the calendar
	all := Of(s)
	require.Equal(t, []string{Quiet}, codes(all))
	assert.Equal(t, Info, all[0].Severity)
	assert.Equal(t, "quiet hours: nothing is measured until 2026-11-23 18:00 UTC", all[0].String())
}

func codes(all []Finding) (codes []string) {
	for _, f := range all {
		codes = append(codes, f.Code)
	}
	return codes
}

func TestSeverity(t *testing.T) {
	assert.Greater(t, Critical, Warning)
	assert.Greater(t, Warning, Info)
	for _, s := range severities() {
		text, err := json.Marshal(s)
		require.NoError(t, err)
		var back Severity
		require.NoError(t, json.Unmarshal(text, &back))
		assert.Equal(t, s, back)
	}
	var s Severity
	assert.ErrorContains(t, s.UnmarshalText([]byte("problem")), `severity "problem" is not known; want info, warning or critical`)
}
