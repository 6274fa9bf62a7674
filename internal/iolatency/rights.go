package iolatency

import (
	"fmt"

	"kernel.org/pub/linux/libs/security/libcap/cap"
)

// DropRights gives up the capabilities that Start needs, in all threads and for good: everything after Start
// goes through memory. CAP_SYS_ADMIN, which includes them, is kept. DropRights waits for each thread, so call
// it before one may hang in the kernel.
func DropRights() error {
	const what = "give up CAP_BPF and CAP_PERFMON"
	rights := cap.GetProc()
	for _, set := range []cap.Flag{cap.Effective, cap.Permitted, cap.Inheritable} {
		if err := rights.SetFlag(set, false, cap.BPF, cap.PERFMON); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
	}
	if err := rights.SetProc(); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}
