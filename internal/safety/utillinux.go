package safety

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/guard"
	"github.com/ssdprobe/ssdprobe/internal/tool"
)

// utilLinuxPatience is how long blkid and wipefs together may take.
const utilLinuxPatience = 30 * time.Second

// heldDevice is the path under which both programs open the held device, whatever its
// name leads to.
const heldDevice = "/proc/self/fd/3"

// utilLinux is the result of blkid and wipefs, which know more formats with every
// version.
type utilLinux struct {
	signatures []Signature // an offset of -1 means unknown
	blind      []Finding   // installed programs that failed
	missing    []string    // programs that are not installed
}

// note says which programs are not installed.
func (u utilLinux) note() string {
	if len(u.missing) == 0 {
		return ""
	}
	return fmt.Sprintf("%s of util-linux not found: only signatures that ssdprobe itself knows were looked for; install util-linux", strings.Join(u.missing, " and "))
}

// askUtilLinux runs both programs on an open device. They only read.
func askUtilLinux(ctx context.Context, g *guard.Guard, device *os.File) utilLinux {
	u, err := guard.Do(ctx, g, utilLinuxPatience, func(ctx context.Context) (utilLinux, error) {
		var u utilLinux
		u.ask(ctx, "wipefs", []string{"--no-act", "--parsable", heldDevice}, device, u.wipefs)
		u.ask(ctx, "blkid", []string{"--probe", "--output", "export", heldDevice}, device, u.blkid)
		return u, nil
	})
	if err != nil {
		u.blind = append(u.blind, Finding{Kind: KindBlind, Text: fmt.Sprintf("wipefs and blkid cannot examine it: %v", err)})
	}
	return u
}

func (u *utilLinux) ask(ctx context.Context, name string, args []string, device *os.File, read func(tool.Answer) error) {
	program, err := tool.Find(name)
	if err == nil { // busybox has applets with these names that know less and take other options
		program, err = filepath.EvalSymlinks(program)
	}
	if err != nil || filepath.Base(program) == "busybox" {
		u.missing = append(u.missing, name)
		return
	}
	answer, err := tool.Ask(ctx, program, args, device)
	if err == nil {
		err = read(answer)
	}
	if err != nil {
		u.blind = append(u.blind, Finding{Kind: KindBlind, Text: fmt.Sprintf("%s cannot examine it: %v", name, err)})
	}
}

// wipefs parses one line "OFFSET,UUID,LABEL,TYPE" per mark (wipefs(8)); a label may
// contain commas.
func (u *utilLinux) wipefs(a tool.Answer) error {
	if a.ExitCode != 0 {
		return failed(a)
	}
	for line := range strings.Lines(string(a.Stdout)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		first, _, _ := strings.Cut(line, ",")
		offset, err := strconv.ParseInt(first, 0, 64)
		name := line[strings.LastIndexByte(line, ',')+1:]
		if err != nil || name == "" {
			return fmt.Errorf("it says %q", line)
		}
		u.signatures = append(u.signatures, Signature{name + " as wipefs says", offset})
	}
	return nil
}

// blkid parses lines "NAME=VALUE" and the exit code (blkid(8)). blkid refuses to choose
// between several formats. What wipefs has already named is not repeated.
func (u *utilLinux) blkid(a tool.Answer) error {
	const nothing, ambivalent = 2, 8
	add := func(name string) {
		if !slices.ContainsFunc(u.signatures, func(s Signature) bool { return s.Name == name+" as wipefs says" }) {
			u.signatures = append(u.signatures, Signature{name + " as blkid says", -1})
		}
	}
	switch a.ExitCode {
	case 0:
		for line := range strings.Lines(string(a.Stdout)) {
			switch name, value, _ := strings.Cut(strings.TrimSpace(line), "="); name {
			case "TYPE", "PTTYPE":
				add(value)
			}
		}
	case nothing:
	case ambivalent:
		if len(u.signatures) == 0 {
			add("more than one format")
		}
	default:
		return failed(a)
	}
	return nil
}

func failed(a tool.Answer) error {
	return fmt.Errorf("exit code %d: %s", a.ExitCode, bytes.TrimSpace(a.Stderr))
}
