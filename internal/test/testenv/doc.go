// Package testenv gives tests real things: block devices and filesystems of their
// own, which need root and are gone when the test ends, ssdprobe as a process, and
// a browser.
//
// A test that cannot have the first is skipped and says what is missing; where CI
// is "true" it fails instead, so that nothing goes untested unnoticed.
//
//	device := testenv.LoopDevice(t, 64<<20, testenv.Options{LogicalBlockBytes: 4096})
//	dir := testenv.Ext4(t, 256<<20)
//	p := testenv.Start(t, nil, "run", "quick", "--target", dir) // see Main
package testenv
