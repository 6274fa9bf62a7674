// Package sysfstest creates the files of a machine for tests: from a fixture that
// scripts/capture-fixture.sh has captured, or from a table in the test.
//
// A fixture is a txtar archive. Since txtar has no symbolic links, the member
// SYMLINKS lists them, one "link -> target" a line, and /sys is mostly links.
//
//	fs := sysfstest.Unpack(t, "testdata/virtio-vm.txtar")
//	fs := sysfstest.Make(t, map[string]string{"sys/block/sda/size": "2048"}, nil)
package sysfstest
