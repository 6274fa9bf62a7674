// Package health reads what drives report about themselves: the SMART log, self-tests, media
// dies, features and namespaces of NVMe controllers, SATA and SAS drives by smartctl, and the
// interrupts of their queues.
//
// It owns how a drive is asked (through a guard, not again for what it refused, not while it
// sleeps) and what its answers mean: record.Health, conditions, and warnings in words. It
// changes nothing on a drive. It does not carry over old values: a reading that failed has none.
//
//	for _, source := range health.Sources(fs, devices) {
//		reader, err := health.NewReader(fs, source, "/dev") // nil if there is nothing to read
//		…
//		reading, err := reader.Read(ctx) // health and warnings
//	}
package health
