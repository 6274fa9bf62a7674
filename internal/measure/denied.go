package measure

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/guard"
	"github.com/ssdprobe/ssdprobe/internal/target"
)

// tryTimeout is how long a device may take to be opened just to see whether it may be.
const tryTimeout = 5 * time.Second

// Denied opens a device once, through its guard, and returns why this process may not read it,
// empty when it may. Any other trouble is left to the one who opens it to measure it, but that
// the device does not answer: *guard.HungError.
func Denied(ctx context.Context, g *guard.Guard, path, number string) (string, error) {
	_, err := guard.Do(ctx, g, tryTimeout, func(context.Context) (struct{}, error) {
		opened, err := target.OpenDevice(path, number)
		if err == nil {
			err = opened.Close()
		}
		return struct{}{}, err
	})
	if hung := new(guard.HungError); errors.As(err, &hung) {
		return "", fmt.Errorf("open %s: %w", path, err)
	}
	if !errors.Is(err, fs.ErrPermission) {
		return "", nil
	}
	advice := "run as root, or add this user to the group that owns the device node"
	if os.Geteuid() == 0 {
		advice = "even root is refused: allow it in the container or its device cgroup"
	}
	return "no permission to read the device node: " + advice, nil
}
