// Command agent is the whole init system of the lab's guest. As process 1 it mounts, loads modules, brings
// the network up and reaps orphans; its child, the same program, serves the lab's requests. When the child
// ends, the machine is switched off, so that a broken agent ends the test instead of blocking it.
package main

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

func main() {
	if os.Getpid() != 1 {
		if err := serve(); err != nil {
			report("agent", err)
			os.Exit(1)
		}
		return
	}
	if err := boot(); err != nil {
		report("boot", err)
	}
	unix.Sync()
	if err := unix.Reboot(unix.LINUX_REBOOT_CMD_POWER_OFF); err != nil {
		report("switch off", err)
	}
}

// report writes to the console, where the lab looks when the agent is gone.
func report(what string, err error) {
	fmt.Fprintf(os.Stderr, "lab: %s: %v\n", what, err)
}
