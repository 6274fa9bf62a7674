// Package testenv gives tests real things that need root: block devices and
// filesystems of their own, which are gone when the test ends.
//
// A test that cannot have them is skipped and says what is missing; where CI is
// "true" it fails instead, so that nothing goes untested unnoticed.
//
//	device := testenv.LoopDevice(t, 64<<20, testenv.Options{LogicalBlockBytes: 4096})
//	dir := testenv.Ext4(t, 256<<20)
package testenv
