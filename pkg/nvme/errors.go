package nvme

import "errors"

// ErrNotNVMe is the error of Open and of commands for a file that is not a device node of the NVMe driver.
var ErrNotNVMe = errors.New("not an NVMe device")

// ErrCancelled says that the driver gave up a command without an answer: its timeout
// passed, or the controller was reset or removed. Whether the controller carried out
// the command is unknown.
var ErrCancelled = errors.New("given up by the driver")

// ErrNotLive says that the driver cannot reach the controller: it is resetting it or
// reconnecting to it, or has given it up. For the node of a multipath namespace, no path
// leads to a controller that can be reached. A controller's state is in
// /sys/class/nvme/nvme0/state.
var ErrNotLive = errors.New("the driver does not reach the controller")
