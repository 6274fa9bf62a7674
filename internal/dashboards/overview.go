package dashboards

// A graph of the fleet reads what the group ssdprobe-overview has recorded over all drives of each cluster. When nodes or
// drives are chosen, it reads their own series: those of all drives are more samples than Prometheus reads for a query.

// few selects chosen series like chosen, but none while all nodes and drives are shown: no series has the label none,
// so it is "", which only AnyValue matches.
const few = chosen + `,none!~"$instance$device$id"`

// emptyUntilChosen is said of graphs that show nothing else.
const emptyUntilChosen = " Empty until nodes or targets are chosen."

// fewNodes is the same for series of nodes.
const fewNodes = chosenNodes + `,none!~"$instance"`

// ofFew is ofModel for series selected by few.
func ofFew(expr string) string {
	return expr + ` and on (cluster, job, instance, device, id) device:ssdprobe_device_info:unique{model=~"$model",` + few + `}`
}

// overview sums a recorded series, or the series of the chosen nodes and drives. A recorded series has no label of a
// node or drive, so chosen selects it only while all are shown.
func overview(by, recorded, ofChosen string) string {
	return `sum by (` + by + `) (` + recorded + `{model=~"$model",` + chosen + `} or ` + ofChosen + `)`
}

// highest is the same for the highest value of nodes, whatever their models.
func highest(recorded, ofChosen string) string {
	return `max(` + recorded + `:max{` + chosenNodes + `}) or max(` + answering(ofChosen) + `)`
}

// mean is the same for their mean value: clusters count by their nodes.
func mean(recorded, ofChosen string) string {
	average, count := recorded+`:avg{`+chosenNodes+`}`, `fleet:ssdprobe_nodes:count{`+chosenNodes+`}`
	return `sum(` + average + ` * on (cluster) ` + count + `) / sum(` + count + ` and on (cluster) ` + average + `) or avg(` + answering(ofChosen) + `)`
}

// answering limits an expression to chosen nodes on which ssdprobe answers.
func answering(expr string) string {
	return expr + ` and on (cluster, job, instance) ssdprobe_build_info{` + fewNodes + `}`
}

// silent returns when the nodes that do not answer last did. Ten minutes are more than a restart and the time from a
// scrape to the next evaluation of the rule. The rule remembers nodes for a month, for the alert about them.
const silent = `instance:ssdprobe_answered_timestamp_seconds:last{` + chosenNodes + `} < time() - 600 > time() - 86400`

// findings returns the findings on chosen drives and, unless models are chosen, on their nodes.
func findings() string {
	return `max by (cluster, job, instance, device, id, probe, code, severity) (` + ofFew(`ssdprobe_finding{`+few+`}`) +
		` or ssdprobe_finding{model=~"$model",` + few + `} unless on (cluster, job, instance, device, id) device:ssdprobe_device_info:unique{` + few + `})`
}
