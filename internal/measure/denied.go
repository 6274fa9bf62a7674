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

// Denied opens a device once and returns why this process may not read it, empty
// when it may. Any other trouble is left to the one who opens it to measure it.
func Denied(ctx context.Context, path, number string) string {
	_, err := guard.Do(ctx, &guard.Guard{}, tryTimeout, func(context.Context) (struct{}, error) {
		opened, err := target.OpenDevice(path, number)
		if err == nil {
			err = opened.Close()
		}
		return struct{}{}, err
	})
	if !errors.Is(err, fs.ErrPermission) {
		return ""
	}
	advice := "run as root, or add this user to the group that owns the device node"
	if os.Geteuid() == 0 {
		advice = "not even root may here: the container or its device cgroup has to allow it"
	}
	return fmt.Sprintf("no permission to read %s: %s", path, advice)
}
