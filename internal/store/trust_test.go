package store_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/store"
	"github.com/ssdprobe/ssdprobe/internal/testenv"
)

const (
	user    = 65532 // as in the pod that probes files
	other   = 4711
	foreign = 4712 // a group that user is not in
	fsGroup = 65533
)

// entry is a directory, or a link, that is made before the state directory is opened.
type entry struct {
	path       string
	mode       os.FileMode // as chmod takes it: 0o2770
	owner, gid int
	link       string
}

func TestWhoMayChangeTheStateDirectory(t *testing.T) {
	testenv.Root(t)
	for name, test := range map[string]struct {
		uid     int
		entries []entry
		dir     string // opened; relative to the directory of the test, which is root's
		refused string // empty when it is accepted; DIR is the directory of the test
	}{
		"not there":                      {uid: 0, dir: "a/b"},
		"one's own":                      {uid: user, entries: []entry{{"a", 0o700, user, user, ""}}, dir: "a"},
		"one's own, readable":            {uid: user, entries: []entry{{"a", 0o755, user, user, ""}}, dir: "a"},
		"root's own":                     {uid: 0, entries: []entry{{"a", 0o755, 0, 0, ""}}, dir: "a"},
		"made in one's own":              {uid: user, entries: []entry{{"a", 0o700, user, user, ""}}, dir: "a/b/c"},
		"a volume with an fsGroup":       {uid: user, entries: []entry{{"a", 0o2775, 0, fsGroup, ""}}, dir: "a"},
		"a private volume with fsGroup":  {uid: user, entries: []entry{{"a", 0o2770, 0, fsGroup, ""}}, dir: "a"},
		"below such a volume":            {uid: user, entries: []entry{{"a", 0o2775, 0, fsGroup, ""}}, dir: "a/state"},
		"writable by the user's group":   {uid: user, entries: []entry{{"a", 0o775, user, user, ""}}, dir: "a"},
		"below a sticky directory":       {uid: user, entries: []entry{{"a", 0o1777, 0, 0, ""}}, dir: "a/state"},
		"a link of root's":               {uid: user, entries: []entry{{"a", 0o700, user, user, ""}, {path: "b", link: "a"}}, dir: "b"},
		"an absolute link and dots":      {uid: user, entries: []entry{{"a", 0o700, user, user, ""}, {path: "b", link: "/DIR/./a/../a"}}, dir: "b/c"},
		"sticky, with a link of root's":  {uid: user, entries: []entry{{"t", 0o1777, 0, 0, ""}, {"a", 0o700, user, user, ""}, {path: "t/b", link: "../a"}}, dir: "t/b"},
		"another user's":                 {uid: user, entries: []entry{{"a", 0o777, other, other, ""}}, dir: "a", refused: "DIR/a belongs to user 4711, and this is user 65532: run `chown 65532 DIR/a`"},
		"a user's, opened by root":       {uid: 0, entries: []entry{{"a", 0o700, user, user, ""}}, dir: "a", refused: "DIR/a belongs to user 65532, and this is user 0: run `chown 0 DIR/a`"},
		"below another user's":           {uid: 0, entries: []entry{{"a", 0o755, other, 0, ""}, {"a/b", 0o700, 0, 0, ""}}, dir: "a/b", refused: "DIR/a belongs to user 4711, and this is user 0: run `chown 0 DIR/a`"},
		"not made below another user's":  {uid: 0, entries: []entry{{"a", 0o755, other, 0, ""}}, dir: "a/b", refused: "DIR/a belongs to user 4711"},
		"another user's in a sticky one": {uid: user, entries: []entry{{"t", 0o1777, 0, 0, ""}, {"t/a", 0o777, other, other, ""}}, dir: "t/a", refused: "DIR/t/a belongs to user 4711"},
		"writable by all":                {uid: user, entries: []entry{{"a", 0o757, user, user, ""}}, dir: "a", refused: "DIR/a is writable by all users: run `chmod o-w DIR/a`"},
		"sticky itself":                  {uid: user, entries: []entry{{"a", 0o1777, 0, 0, ""}}, dir: "a", refused: "DIR/a is writable by all users: run `chmod o-w DIR/a`"},
		"below one writable by all":      {uid: 0, entries: []entry{{"a", 0o777, 0, 0, ""}, {"a/b", 0o700, 0, 0, ""}}, dir: "a/b", refused: "DIR/a is writable by all users: run `chmod o-w DIR/a`"},
		"writable by a foreign group":    {uid: user, entries: []entry{{"a", 0o2775, 0, foreign, ""}}, dir: "a", refused: "DIR/a is writable by group 4712, which this process is not in: run `chmod g-w DIR/a`"},
		"by a group that is not root's":  {uid: 0, entries: []entry{{"a", 0o770, 0, fsGroup, ""}}, dir: "a", refused: "DIR/a is writable by group 65533"},
		"below one of a foreign group":   {uid: user, entries: []entry{{"a", 0o775, 0, foreign, ""}, {"a/b", 0o700, user, user, ""}}, dir: "a/b", refused: "DIR/a is writable by group 4712"},
		"a link of another user's": {uid: user, entries: []entry{
			{"t", 0o1777, 0, 0, ""}, {"a", 0o700, user, user, ""}, {path: "t/b", owner: other, link: "../a"},
		}, dir: "t/b", refused: "DIR/t/b belongs to user 4711, and this is user 65532: run `chown -h 65532 DIR/t/b`"},
		"a link in a directory of others": {uid: user, entries: []entry{
			{"t", 0o777, 0, 0, ""}, {"a", 0o700, user, user, ""}, {path: "t/b", link: "../a"},
		}, dir: "t/b", refused: "DIR/t is writable by all users"},
		"a link into a directory of others": {uid: user, entries: []entry{
			{"t", 0o777, 0, 0, ""}, {"t/a", 0o700, user, user, ""}, {path: "b", link: "t/a"},
		}, dir: "b", refused: "DIR/t is writable by all users"},
		"a name for a shell to quote": {uid: user, entries: []entry{{"it's a", 0o757, user, user, ""}}, dir: "it's a", refused: `run ` + "`chmod o-w 'DIR/it'\\''s a'`"},
		"links in a circle":           {uid: user, entries: []entry{{path: "a", link: "b"}, {path: "b", link: "a"}}, dir: "a", refused: "too many levels of symbolic links"},
	} {
		t.Run(name, func(t *testing.T) {
			base := reachable(t)
			for _, e := range test.entries {
				e.make(t, base)
			}
			dir := filepath.Join(base, test.dir)
			before := names(t, base)
			got := asUser(t, test.uid, dir)
			if test.refused == "" {
				assert.Empty(t, got)
				info, err := os.Stat(filepath.Join(dir, kind, "x.json"))
				require.NoError(t, err, "it was saved")
				assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
				return
			}
			require.Contains(t, got, strings.ReplaceAll(test.refused, "DIR", base))
			assert.Equal(t, before, names(t, base), "nothing is made in what is refused")
			for range 3 * len(test.entries) { // owner, group and others of each
				if _, command, ok := strings.Cut(got, "run `"); ok {
					command, _, _ = strings.Cut(command, "`")
					run(t, command)
					got = asUser(t, test.uid, dir)
				}
			}
			assert.NotContains(t, got, store.ErrUntrusted.Error(), "the commands mend it")
		})
	}
}

// reachable returns a directory of root's that other users may look into.
func reachable(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "trust")
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, os.RemoveAll(dir)) })
	require.NoError(t, os.Chmod(dir, 0o755))
	return dir
}

// names lists all that is below a directory.
func names(t *testing.T, dir string) []string {
	t.Helper()
	var names []string
	require.NoError(t, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		names = append(names, path)
		return err
	}))
	return names
}

func (e entry) make(t *testing.T, base string) {
	t.Helper()
	path := filepath.Join(base, e.path)
	if e.link != "" {
		require.NoError(t, os.Symlink(strings.ReplaceAll(e.link, "/DIR", base), path))
		require.NoError(t, os.Lchown(path, e.owner, e.gid))
		return
	}
	require.NoError(t, os.Mkdir(path, 0o700))
	require.NoError(t, os.Chown(path, e.owner, e.gid))
	require.NoError(t, unix.Chmod(path, uint32(e.mode)))
}

func run(t *testing.T, command string) {
	t.Helper()
	out, err := exec.Command("sh", "-c", command).CombinedOutput()
	require.NoError(t, err, "%s: %s", command, out)
}

const trustEnv = "SSDPROBE_TEST_TRUST"

// asUser saves and loads a value and takes a lock as that user, who is in the groups of
// his own and fsGroup; root is in its own. It returns the first error.
func asUser(t *testing.T, uid int, dir string) string {
	t.Helper()
	credential := &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}
	if uid != 0 {
		credential.Groups = []uint32{fsGroup}
	}
	cmd := exec.Command("/proc/self/exe", "-test.run=^TestAsUser$") // its directory is root's alone
	cmd.Env = append(os.Environ(), trustEnv+"="+dir)
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: credential}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	_, answer, _ := strings.Cut(string(out), "answer: ")
	answer, _, _ = strings.Cut(answer, "\n")
	var text string
	require.NoError(t, json.Unmarshal([]byte(answer), &text), "%s", out)
	return text
}

// TestAsUser is what asUser starts.
func TestAsUser(t *testing.T) {
	dir, ok := os.LookupEnv(trustEnv)
	if !ok {
		return
	}
	answer, err := json.Marshal(use(dir))
	require.NoError(t, err)
	_, err = fmt.Fprintf(os.Stdout, "answer: %s\n", answer)
	require.NoError(t, err)
}

func use(dir string) string {
	s, err := store.Open(dir)
	if err != nil {
		return err.Error()
	}
	if err := s.Save(kind, "x", some(1)); err != nil {
		return err.Error()
	}
	var v value
	if _, err := s.Load(kind, "x", &v); err != nil {
		return err.Error()
	}
	lock, err := store.TakeLock(dir, "x")
	if err != nil {
		return err.Error()
	}
	if err := lock.Release(); err != nil {
		return err.Error()
	}
	return ""
}

// A group that may write can plant what it likes; what another user wrote is neither
// believed nor overwritten nor moved.
func TestPlantedFiles(t *testing.T) {
	testenv.Root(t)
	for name, test := range map[string]struct {
		plant   func(t *testing.T, dir string)
		refused string
	}{
		"another user's file": {func(t *testing.T, dir string) {
			path := filepath.Join(dir, kind, "x.json")
			require.NoError(t, os.Lchown(path, other, fsGroup))
			require.NoError(t, os.Chmod(path, 0o660))
		}, "/targets/x.json belongs to user 4711, and this is user 65532: run `chown 65532 "},
		"a file for all": {func(t *testing.T, dir string) {
			require.NoError(t, os.Chmod(filepath.Join(dir, kind, "x.json"), 0o666))
		}, "/targets/x.json is writable by all users: run `chmod o-w "},
		"another user's folder": {func(t *testing.T, dir string) {
			require.NoError(t, os.Lchown(filepath.Join(dir, kind), other, fsGroup))
		}, "/targets belongs to user 4711"},
		"a link to elsewhere": {func(t *testing.T, dir string) {
			require.NoError(t, os.RemoveAll(filepath.Join(dir, kind)))
			entry{"elsewhere", 0o777, user, user, ""}.make(t, dir)
			entry{path: kind, link: "elsewhere", owner: other}.make(t, dir)
		}, "/targets belongs to user 4711, and this is user 65532: run `chown -h 65532 "},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(reachable(t), "state")
			entry{"state", 0o2770, 0, fsGroup, ""}.make(t, filepath.Dir(dir))
			require.Empty(t, asUser(t, user, dir))
			// What an fsGroup makes of what is there already.
			require.NoError(t, unix.Chmod(filepath.Join(dir, kind), 0o2770))
			require.NoError(t, os.Chmod(filepath.Join(dir, kind, "x.json"), 0o660))
			require.Empty(t, asUser(t, user, dir))
			test.plant(t, dir)
			before := tree(t, dir)
			require.Contains(t, asUser(t, user, dir), test.refused)
			assert.Equal(t, before, tree(t, dir), "nothing was touched")
		})
	}
}

// The bits of the group are then the rights of all whom the list names.
func TestAccessControlListIsNotOverlooked(t *testing.T) {
	dir := testenv.Ext4(t, 16<<20)
	require.NoError(t, unix.Setxattr(dir, "system.posix_acl_access", accessList(other), 0))
	info, err := os.Stat(dir)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o770), info.Mode().Perm(), "the group is root's own")
	_, err = store.Open(dir)
	require.ErrorIs(t, err, store.ErrUntrusted)
	require.ErrorContains(t, err, "run `setfacl -b "+dir+"`")
}

// accessList is u::rwx,u:uid:rwx,g::---,m::rwx,o::--- as the kernel takes it
// (include/uapi/linux/posix_acl_xattr.h): a version, then tag, rights and id of each.
func accessList(uid uint32) []byte {
	const none = 0xffffffff
	list := []byte{2, 0, 0, 0}
	for _, e := range []struct {
		tag, rights uint16
		id          uint32
	}{{0x01, 7, none}, {0x02, 7, uid}, {0x04, 0, none}, {0x10, 7, none}, {0x20, 0, none}} {
		list = append(list, byte(e.tag), 0, byte(e.rights), 0, byte(e.id), byte(e.id>>8), byte(e.id>>16), byte(e.id>>24))
	}
	return list
}
