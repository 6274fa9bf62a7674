package record

const (
	// ProbeFileName is the name of a probe file in a directory.
	ProbeFileName = "ssdprobe.dat"
	// MinProbeFileBytes is the smallest size of a probe file: with a smaller one, a drive's cache answers.
	MinProbeFileBytes = 16 << 20
)

// FileOn names a file, and the device that it is on unless that is empty, as on a filesystem in memory. A drive may have several
// probe files, and may be watched itself.
func FileOn(path, device string) string {
	if device == "" {
		return path
	}
	return path + " on " + device
}
