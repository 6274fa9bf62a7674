package dashboards

// worstOfAll shows what is slow according to the verdicts of the nodes: drives, hosts and batches.
func worstOfAll() []Panel {
	worst := table("Worst drives",
		"Drives whose verdict is watch, degraded or severe, worst first: how many times slower they are than before or than their peers, with the bounds of the 95 % "+
			"interval, since when, and what shows it (witnesses). A drive that only stalls or fails I/Os has no ratio. Click a device to open its dashboard. Empty if all "+
			"drives are well.",
		24, 10, []column{
			{field: "instance", name: "Node"}, {field: "device", name: "Device"}, {field: "id", name: "Target"}, {field: "model", name: "Model"}, {field: "firmware", name: "Firmware"},
			{field: "state", name: "Verdict"}, {field: "scope", name: "Scope"}, {field: "witnesses", name: "Witnesses"}, {field: "source", name: "Source"},
			{field: "Value #A", name: "Times slower", unit: "none", at: 1.2}, {field: "Value #D", name: "At least", unit: "none"}, {field: "Value #E", name: "At most", unit: "none"},
			{field: "Value #B", name: "Since", unit: "dateTimeFromNow"},
		},
		Query{Expr: `topk(100, ` + withModel(`ssdprobe_drive_health_slower_ratio{`+chosen+`}`) + `)`},
		Query{Expr: withModel(`1000 * ssdprobe_drive_health_since_timestamp_seconds{` + chosen + `}`)},
		Query{Expr: withModel(`ssdprobe_drive_health_info{` + chosen + `}`)},
		Query{Expr: withModel(`ssdprobe_drive_health_slower_ratio_lower{` + chosen + `}`)}, Query{Expr: withModel(`ssdprobe_drive_health_slower_ratio_upper{` + chosen + `}`)})
	return []Panel{
		worst,
		table("Hosts", "The verdict on each node: how many times slower than before nearly all its drives are, worst first. 1 is as fast as before. No drive is blamed "+
			"for that. Witnesses: what shows it. Since: when it began. Both are empty if the node is not slower.", 12, 8, []column{
			{field: "instance", name: "Node"}, {field: "state", name: "Verdict"}, {field: "witnesses", name: "Witnesses"},
			{field: "Value #A", name: "Times slower", unit: "none", at: 1.2}, {field: "Value #C", name: "Since", unit: "dateTimeFromNow"}, {field: "Value #B", name: "Drives", unit: "none"},
		},
			Query{Expr: onNodes(`(max by (job, instance, state) (ssdprobe_host_health{instance=~"$instance"} == 1)` +
				` * on (job, instance) group_left () (max by (job, instance) (ssdprobe_host_health_slower_ratio) or max by (job, instance) (ssdprobe_host_health) ^ 0))`)},
			Query{Expr: onNodes(`count by (job, instance) (ssdprobe_target_up{instance=~"$instance"})`)},
			Query{Expr: onNodes(`1000 * ssdprobe_host_health_since_timestamp_seconds{instance=~"$instance"}`)},
			Query{Expr: onNodes(`ssdprobe_host_health_info{instance=~"$instance"}`)}),
		table("Batches", "Drives of one model on one node that got slower within an hour of each other, worst first. Look for what they have in common. Empty if there are none.", 12, 8, []column{
			{field: "instance", name: "Node"}, {field: "model", name: "Model"},
			{field: "Value #A", name: "Times slower", unit: "none", at: 1.2}, {field: "Value #B", name: "Drives", unit: "none"},
		},
			Query{Expr: `max by (instance, model) (` + withModel(`(ssdprobe_drive_health_slower_ratio{`+chosen+`} and on (job, instance, id) ssdprobe_drive_health_info{scope="batch"})`) + `)`},
			Query{Expr: `count by (instance, model) (max by (job, instance, id, model) (` + withModel(`ssdprobe_drive_health_info{scope="batch",`+chosen+`}`) + `))`}),
		series("Drives by verdict", "none", "Number of the chosen targets with each verdict.", 24,
			Query{Expr: `sum by (state) (max by (job, instance, device, id, state) (` + ofModel(`ssdprobe_drive_health{`+chosen+`}`) + `))`, Legend: "{{state}}"}).from0(),
	}
}
