package dashboards

// rank orders what is not well: by the verdict, and then by the ratio. What only stalls or fails I/Os has no ratio, and
// counts like one that is twice as slow.
func rank(kind, by, selected string) string {
	info := func(state string) string {
		return `ssdprobe_` + kind + `_health_info{state=~"` + state + `",` + selected + `}`
	}
	return `(max by (` + by + `) (3000 * ` + info("severe") + ` or 2000 * ` + info("degraded") + ` or 1000 * ` + info("watch") + `)` +
		` + on (` + by + `) max by (` + by + `) (clamp_max(ssdprobe_` + kind + `_health_slower_ratio{` + selected + `}, 999) or on (` + by + `) 2 * ` + info("watch|degraded|severe") + `))`
}

// worstOfAll shows what is slow according to the verdicts of the nodes: drives, hosts and batches.
func worstOfAll() []Panel {
	ranking := `topk(100, ` + withModel(rank("drive", "cluster, job, instance, device, id", chosen)) + `)`
	ranked := func(expr string) Query {
		return Query{Expr: withModel(`(` + expr + `{` + chosen + `} and on (cluster, job, instance, device, id) ` + ranking + `)`)}
	}
	const slowHost = `ssdprobe_host_health_info{` + chosenNodes + `,state=~"watch|degraded|severe"}`
	hosts := `topk(100, ` + onNodes(rank("host", "cluster, job, instance", chosenNodes)) + `)`
	ofHosts := func(expr string) Query { return Query{Expr: expr + ` and on (cluster, job, instance) ` + hosts} }
	worst := table("Worst drives",
		"Drives whose verdict is watch, degraded or severe, the worst verdict first: how many times slower they are than before or than their peers, with the bounds of the 95 % "+
			"interval, since when, and what shows it (witnesses). A drive that only stalls or fails I/Os has no ratio. Click a device to open its dashboard. Empty if all "+
			"drives are well.",
		24, 10, []column{
			{field: "instance", name: "Node"}, {field: "device", name: "Device"}, {field: "id", name: "Target"}, {field: "model", name: "Model"}, {field: "firmware", name: "Firmware"},
			{field: "state", name: "Verdict"}, {field: "scope", name: "Scope"}, {field: "witnesses", name: "Witnesses"}, {field: "source", name: "Source"},
			{field: "Value #A", name: "Times slower", unit: "none", at: 1.2}, {field: "Value #D", name: "At least", unit: "none"}, {field: "Value #E", name: "At most", unit: "none"},
			{field: "Value #B", name: "Since", unit: "dateTimeFromNow"},
		},
		ranked(`ssdprobe_drive_health_slower_ratio`), ranked(`1000 * ssdprobe_drive_health_since_timestamp_seconds`), ranked(`ssdprobe_drive_health_info`),
		ranked(`ssdprobe_drive_health_slower_ratio_lower`), ranked(`ssdprobe_drive_health_slower_ratio_upper`), Query{Expr: ranking}).sortedBy("Value #F")
	return []Panel{
		worst,
		table("Hosts", "Nodes whose verdict is watch, degraded or severe, the worst verdict first: how many times slower than before nearly all their drives are. No drive is blamed for "+
			"that. Witnesses: what shows it. Since: when it began. Empty if no node is slower.", 12, 8, []column{
			{field: "instance", name: "Node"}, {field: "state", name: "Verdict"}, {field: "witnesses", name: "Witnesses"},
			{field: "Value #A", name: "Times slower", unit: "none", at: 1.2}, {field: "Value #C", name: "Since", unit: "dateTimeFromNow"}, {field: "Value #B", name: "Drives", unit: "none"},
		},
			ofHosts(`ssdprobe_host_health_slower_ratio{`+chosenNodes+`}`), ofHosts(`count by (cluster, job, instance) (ssdprobe_target_up{`+chosenNodes+`})`),
			ofHosts(`1000 * ssdprobe_host_health_since_timestamp_seconds{`+chosenNodes+`}`), ofHosts(slowHost), Query{Expr: hosts}).sortedBy("Value #E"),
		table("Batches", "Drives of one model on one node that got slower within an hour of each other, worst first. Look for what they have in common. Empty if there are none.", 12, 8, []column{
			{field: "instance", name: "Node"}, {field: "model", name: "Model"},
			{field: "Value #A", name: "Times slower", unit: "none", at: 1.2}, {field: "Value #B", name: "Drives", unit: "none"},
		},
			Query{Expr: `max by (cluster, instance, model) (` + withModel(`(ssdprobe_drive_health_slower_ratio{`+chosen+`} and on (cluster, job, instance, id) ssdprobe_drive_health_info{scope="batch",`+chosenNodes+`})`) + `)`},
			Query{Expr: `count by (cluster, instance, model) (max by (cluster, job, instance, id, model) (` + withModel(`ssdprobe_drive_health_info{scope="batch",`+chosen+`}`) + `))`}),
		series("Drives by verdict", "none", "Number of the chosen targets with each verdict.", 24,
			Query{
				Expr: overview("state", "model_state:ssdprobe_drives:count", `max by (cluster, job, instance, device, id, state) (`+ofFew(`ssdprobe_drive_health{`+few+`}`)+`)`), Legend: "{{state}}",
			}).from0(),
	}
}
