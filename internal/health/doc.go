// Package health reads what drives report about themselves: the SMART log, self-tests, media
// dies, features and namespaces of NVMe controllers, SATA and SAS drives by smartctl, and the
// interrupts of their queues.
//
// It owns how a drive is asked (through a guard, not again for what it refused, not while it
// sleeps) and what its answers mean: record.Health, conditions, and warnings in words. It
// changes nothing on a drive. It does not carry over old values: a reading that failed has none.
//
//	sources := health.Sources(fs, devices)
//	c := health.NewController(fs, "nvme0", health.Node("/dev/nvme0"))
//	h, err := c.Read(ctx, 20*time.Second, health.NamespaceIDs(fs, devices))
//	var recent health.Recent // of all readings
//	for _, w := range recent.Warnings(h) { … }
package health
