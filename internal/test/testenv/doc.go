// Package testenv gives tests real things: block devices and filesystems of their
// own, which need root and are gone when the test ends, ssdprobe as a process, and
// a browser.
//
// A test that cannot have what it asks for is skipped and says what is missing; where
// CI is "true" it fails instead, so that nothing goes untested unnoticed. With -short,
// as `make unit` has it, every test is skipped that asks for any of it.
//
//	device := testenv.LoopDevice(t, 64<<20, testenv.Options{LogicalBlockBytes: 4096})
//	dir := testenv.Ext4(t, 256<<20)
//	p := testenv.Start(t, nil, "run", "quick", "--target", dir) // see Main
package testenv
