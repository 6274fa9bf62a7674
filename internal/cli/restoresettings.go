package cli

import (
	"errors"
	"os"

	"github.com/spf13/cobra"

	"github.com/ssdprobe/ssdprobe/internal/settings"
	"github.com/ssdprobe/ssdprobe/internal/state"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/pkg/nvme"
)

// restoreSettingsCommand is the command that a run starts before it changes settings of a device; see
// settings.Self.
func (a *app) restoreSettingsCommand() *cobra.Command {
	var root string
	c := &cobra.Command{
		Use:    "restore-settings DEVICE",
		Hidden: true,
		Short:  "Restore the settings of a device when the run that changes them is killed",
		Long: `Waits until standard input ends and restores the settings of a device that a run has left
changed. A run that changes settings starts this by itself.`,
		Example: "  ssdprobe restore-settings eui.0025385b71b00f1a --state-dir state < /dev/null",
		Args:    arguments(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			if a.stateDir == "" {
				return usage(errors.New("--state-dir: is missing; want the state directory of the run"))
			}
			dir, err := state.Open(a.stateDir)
			if err != nil {
				return err
			}
			o := settings.Options{FS: sysfs.New(root), Store: dir.Store, OpenNVMe: nvme.Open}
			restored, err := settings.Guard(o, args[0], os.Stdin, a.stdout, a.stderr)
			for _, text := range restored {
				err = errors.Join(err, tell(a.stderr, "ssdprobe: restored after a run: %s\n", text))
			}
			return err
		},
	}
	c.Flags().StringVar(&root, "host-root", "/", "`DIRECTORY` with the host's /sys, /proc and /dev")
	return c
}
