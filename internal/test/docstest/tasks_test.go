package docstest

// task is something that a new user wants, in the user's words, and how to do it.
type task struct {
	wish string
	// looks are the pages that the user reads for it: README, the name of a command for its --help
	// ("ssdprobe" for the overview), or a document that README links to.
	looks []string
	// beside is a command that keeps running in another terminal, and begun is what it prints once it has begun.
	beside, begun string
	// runs are the commands. exit is the exit code of the last one, and says is part of its output.
	// If that takes a while, as learning does, the user repeats the last command. unknown says that it may end with
	// unknownVerdict: on a busy machine, ten rounds may vary too much for a verdict.
	runs    []string
	exit    int
	says    string
	repeats bool
	unknown bool
}

// learning writes the configuration of task 1: what the user wants, and what this test needs on a busy machine.
const learning = `printf '%s\n' 'devices: {enabled: false}' 'files: [{path: watched, size: 16MiB}]' \
  'probes: [{name: read-4k, interval: 2s, ios: 64}]' 'drift: {baseline_rounds: 10, threshold: 10}' \
  'admission: {max_io_pressure: 1, max_cpu_wait: 1, max_utilisation: 1, max_in_flight: 100000}' |
  sed "s|watched|$PWD/watched|" > ssdprobe.yaml`

// tasks are done in this order, with one daemon from the third on. WATCHED is the file's directory.
var tasks = []task{
	{
		wish:  "configure a daemon that watches only a file of 16 MiB, and see that the configuration is free of mistakes",
		looks: []string{"README", "docs/configuration.md"},
		runs:  []string{"mkdir watched measured", learning, "ssdprobe config check ssdprobe.yaml"},
		says:  "ssdprobe.yaml: valid",
	},
	{
		wish:  "see what that configuration changes",
		looks: []string{"README", "config"},
		runs:  []string{"ssdprobe config check ssdprobe.yaml"},
		says:  "interval: 2s (default 30s)",
	},
	{
		wish:   "start the daemon with it, on a port of one's own",
		looks:  []string{"README"},
		beside: "ssdprobe daemon --config ssdprobe.yaml --web.listen-address 127.0.0.1:0",
		begun:  `Listening on" address=(\S+)`,
	},
	{
		wish:  "wait in a script until the daemon is ready",
		looks: []string{"README", "ready"},
		runs:  []string{"ssdprobe ready --wait 1m"},
		says:  "ready",
	},
	{
		wish:  "see what is watched, and why the rest is not",
		looks: []string{"README"},
		runs:  []string{"ssdprobe devices --config ssdprobe.yaml"},
		says:  "devices.enabled is false", repeats: true,
	},
	{
		wish:  "see latency as Prometheus gets it",
		looks: []string{"README"},
		runs:  []string{"curl -s localhost:10040/metrics | grep ssdprobe_probe_latency_percentile_seconds"},
		says:  `percentile="99"`, repeats: true,
	},
	{
		wish:  "have the daemon take over a changed configuration without a restart",
		looks: []string{"README", "daemon"},
		runs: []string{"sed -i 's/interval: 2s/interval: 1s/' ssdprobe.yaml", "kill -SIGHUP $BESIDE",
			"curl -s localhost:10040/api/v1/devices | tr -d ' \\n' | grep -o 'interval_ns.:1000000000'"},
		says: "1000000000", repeats: true,
	},
	{
		wish:  "see how the file compares with what was normal",
		looks: []string{"README"},
		runs:  []string{"ssdprobe drift"},
		says:  "waiting", repeats: true, // p95 and p99, once there is a baseline; on a busy machine, ten rounds may vary too much for healthy
	},
	{
		wish:  "have the verdict in one line for Nagios",
		looks: []string{"README", "check"},
		runs:  []string{"ssdprobe check --format nagios"},
		says:  "SSDPROBE", unknown: true,
	},
	{
		wish:  "have the verdict on one target as JSON",
		looks: []string{"README", "check"},
		runs:  []string{"ssdprobe check WATCHED --format json"},
		says:  `"verdict":`, unknown: true,
	},
	{
		wish:  "look once, as text, at what all drives do",
		looks: []string{"README"},
		runs:  []string{"ssdprobe top --once"},
		says:  "IOPS",
	},
	{
		wish:  "know why that is an alarm or not",
		looks: []string{"README"},
		runs:  []string{"ssdprobe drift explain WATCHED"},
		says:  "verdict: ",
	},
	{
		wish:  "take the current level as normal, and say why",
		looks: []string{"README", "drift"},
		runs:  []string{`ssdprobe drift accept WATCHED --note "moved to the slow slot"`},
		exit:  1, says: "no drift was found, so there is nothing to accept",
	},
	{
		wish:  "see what was learned",
		looks: []string{"README"},
		runs:  []string{"ssdprobe baseline show"},
		says:  "read-4k",
	},
	{
		wish:  "have a second state directory know what was learned",
		looks: []string{"README", "ssdprobe", "baseline", "baseline import"},
		runs: []string{"ssdprobe baseline export > learned.json", "mkdir other", "ssdprobe baseline import learned.json --state-dir other",
			"ssdprobe baseline show --state-dir other"},
		says: "read-4k",
	},
	{
		wish:  "protect what was learned, and lift that",
		looks: []string{"README", "baseline"},
		runs:  []string{"ssdprobe baseline pin WATCHED", "ssdprobe baseline unpin WATCHED"},
		says:  "unpinned",
	},
	{
		wish:  "have it forget what it learned of one probe",
		looks: []string{"README", "baseline"},
		runs:  []string{"ssdprobe baseline reset WATCHED --probe read-4k"},
		says:  "forgotten",
	},
	{
		wish:  "keep what happens this minute; this daemon is stopped in it",
		looks: []string{"README", "record"},
		runs:  []string{"ssdprobe record now", "kill -SIGTERM $BESIDE", "ssdprobe record list"},
		says:  "request", repeats: true,
	},
	{
		wish:  "send that to a colleague as one file",
		looks: []string{"README", "record", "record export"},
		runs: []string{`ssdprobe record export "$(ssdprobe record list | awk 'END { print $1 }')" --to minute.gz`,
			"ssdprobe record show minute.gz"},
		says: "an operator requested it",
	},
	{
		wish:  "measure now, without fio",
		looks: []string{"README", "run"},
		runs:  []string{"ssdprobe run --target measured"},
		says:  "At most",
	},
	{
		wish:  "find the suite that tells which depth pays off, and its parameters",
		looks: []string{"README"},
		runs:  []string{"ssdprobe suites", "ssdprobe suites depth-sweep"},
		says:  "depths=auto",
	},
	{
		wish:  "know what it would do and how long it takes",
		looks: []string{"README"},
		runs:  []string{"ssdprobe run depth-sweep --target measured --dry-run"},
		says:  " steps, about ",
	},
	{
		wish:  "stop it from another terminal",
		looks: []string{"README"}, beside: "ssdprobe run depth-sweep --target measured", begun: "step 1 of ",
		runs: []string{"ssdprobe run --stop"},
		says: "stopped",
	},
	{
		wish:  "have a short run as a page for the browser",
		looks: []string{"README"},
		runs: []string{"ssdprobe run quick --target measured --set time=1s --output json > before.json",
			"ssdprobe report before.json --output html > before.html", "head -c 15 before.html"},
		says: "<!doctype html>",
	},
	{
		wish:  "be told whether a second run is slower",
		looks: []string{"README"},
		runs: []string{"ssdprobe run quick --target measured --set time=1s --output json > after.json",
			"ssdprobe compare before.json after.json || [ $? = 3 ]"},
		says: "times slower",
	},
	{
		wish:  "have a run remembered, so that the next one is compared with it",
		looks: []string{"README"},
		runs:  []string{"ssdprobe run --target measured --save-baseline", "ssdprobe baseline show"},
		says:  "probe",
	},
	{
		wish:  "have a run in a spreadsheet, and in a ticket",
		looks: []string{"README", "report"},
		runs:  []string{"ssdprobe report after.json --output csv > after.csv", "ssdprobe report after.json --output markdown"},
		says:  "| --- |",
	},
	{
		wish:  "keep a run in a folder that others can verify, and verify it",
		looks: []string{"README", "run"},
		runs: []string{"ssdprobe run quick --target measured --set time=1s --folder kept",
			"cd kept && sha256sum --check SHA256SUMS"},
		says: "run.json: OK",
	},
	{
		wish:  "run a fio job of one's own",
		looks: []string{"README", "run"},
		runs: []string{`printf '[mine]\nrw=randread\nbs=8k\nruntime=1\ntime_based\n' > mine.fio`,
			"ssdprobe run --job mine.fio --target measured"},
		says: "mine",
	},
	{
		wish:  "read what fio printed for somebody without ssdprobe, beside a run",
		looks: []string{"README", "report", "compare"},
		runs: []string{"fio --name=hers --directory=measured --size=16M --rw=randread --runtime=1 --time_based --output-format=json > fio.json",
			"ssdprobe report fio.json", "ssdprobe compare before.json fio.json || [ $? = 1 ]"},
		says: "hers",
	},
}
