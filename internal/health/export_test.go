package health

// ParseSmartctl is parseSmartctl, for tests and fuzzing.
var ParseSmartctl = parseSmartctl

const (
	NearlyWorn = nearlyWorn
	HotFor     = hotFor
)
