// Package testenv gives tests a real environment: block devices and filesystems, which
// need root and are removed when the test ends, ssdprobe as a process, and a browser.
//
// A test whose requirements are not met is skipped and says what is missing. If CI is
// "true" it fails instead, so that nothing goes untested unnoticed. With -short, as in
// `make unit`, every test with such requirements is skipped.
//
//	device := testenv.LoopDevice(t, 64<<20, testenv.Options{LogicalBlockBytes: 4096})
//	dir := testenv.Ext4(t, 256<<20)
//	p := testenv.Start(t, nil, "run", "quick", "--target", dir) // see Main
package testenv
