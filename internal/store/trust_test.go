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
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

const (
	user    = 65532 // as in the pod that probes files
	other   = 4711
	foreign = 4712 // a group that user is not in
	fsGroup = 65533
)

// entry is a directory or a link to create before the state directory is opened.
type entry struct {
	path       string
	mode       os.FileMode // as for chmod: 0o2770
	owner, gid int
	link       string
}

func TestWhoMayChangeTheStateDirectory(t *testing.T) {
	testenv.Root(t)
	for name, test := range map[string]struct {
		uid     int
		entries []entry
		dir     string // to open, relative to the directory of the test, which root owns
		refused string // empty if it is accepted; DIR is the directory of the test
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
		"another user's":                 {uid: user, entries: []entry{{"a", 0o777, other, other, ""}}, dir: "a", refused: "DIR/a belongs to user 4711, and this is user 65532: if only ssdprobe uses DIR/a, run `chown -R 65532 DIR/a`"},
		"a user's, opened by root":       {uid: 0, entries: []entry{{"a", 0o700, user, user, ""}}, dir: "a", refused: "DIR/a belongs to user 65532, and this is user 0: if only ssdprobe uses DIR/a, run `chown -R 0 DIR/a`"},
		"below another user's":           {uid: 0, entries: []entry{{"a", 0o755, other, 0, ""}, {"a/b", 0o700, 0, 0, ""}}, dir: "a/b", refused: "DIR/a, on the way to DIR/a/b, belongs to user 4711, and this is user 0: name another directory"},
		"not made below another user's":  {uid: 0, entries: []entry{{"a", 0o755, other, 0, ""}}, dir: "a/b", refused: "DIR/a, on the way to DIR/a/b, belongs to user 4711"},
		"another user's in a sticky one": {uid: user, entries: []entry{{"t", 0o1777, 0, 0, ""}, {"t/a", 0o777, other, other, ""}}, dir: "t/a", refused: "DIR/t/a belongs to user 4711"},
		"writable by all":                {uid: user, entries: []entry{{"a", 0o757, user, user, ""}}, dir: "a", refused: "DIR/a is writable by all users: if only ssdprobe uses DIR/a, run `chmod -R o-w DIR/a`"},
		"a volume without fsGroup":       {uid: user, entries: []entry{{"a", 0o777, 0, 0, ""}}, dir: "a", refused: "DIR/a is writable by all users: if only ssdprobe uses DIR/a, run `chown -R 65532 DIR/a && chmod -R go-w DIR/a` as root, in a pod by an init container; if not, name another directory"},
		"sticky itself":                  {uid: user, entries: []entry{{"a", 0o1777, 0, 0, ""}}, dir: "a", refused: "DIR/a is shared, and is writable by all users: name a directory of its own below it, such as DIR/a/ssdprobe"},
		"a sticky one of another user":   {uid: user, entries: []entry{{"a", 0o1777, other, 0, ""}}, dir: "a", refused: "DIR/a belongs to user 4711, and this is user 65532: name another directory"},
		"below one writable by all":      {uid: 0, entries: []entry{{"a", 0o777, 0, 0, ""}, {"a/b", 0o700, 0, 0, ""}}, dir: "a/b", refused: "DIR/a, on the way to DIR/a/b, is writable by all users: name another directory"},
		"writable by a foreign group":    {uid: user, entries: []entry{{"a", 0o2775, 0, foreign, ""}}, dir: "a", refused: "DIR/a is writable by group 4712, which this process is not in: if only ssdprobe uses DIR/a, run `chown -R 65532 DIR/a && chmod -R go-w DIR/a` as root"},
		"by a group that is not root's":  {uid: 0, entries: []entry{{"a", 0o770, 0, fsGroup, ""}}, dir: "a", refused: "DIR/a is writable by group 65533"},
		"below one of a foreign group":   {uid: user, entries: []entry{{"a", 0o775, 0, foreign, ""}, {"a/b", 0o700, user, user, ""}}, dir: "a/b", refused: "DIR/a, on the way to DIR/a/b, is writable by group 4712, which this process is not in: name another directory"},
		"a link of another user's": {uid: user, entries: []entry{
			{"t", 0o1777, 0, 0, ""}, {"a", 0o700, user, user, ""}, {path: "t/b", owner: other, link: "../a"},
		}, dir: "t/b", refused: "the link DIR/t/b belongs to user 4711, and this is user 65532: name another directory"},
		"a link in a directory of others": {uid: user, entries: []entry{
			{"t", 0o777, 0, 0, ""}, {"a", 0o700, user, user, ""}, {path: "t/b", link: "../a"},
		}, dir: "t/b", refused: "DIR/t, on the way to DIR/t/b, is writable by all users: name another directory"},
		"a link into a directory of others": {uid: user, entries: []entry{
			{"t", 0o777, 0, 0, ""}, {"t/a", 0o700, user, user, ""}, {path: "b", link: "t/a"},
		}, dir: "b", refused: "DIR/t, on the way to DIR/b, is writable by all users: name another directory"},
		"a name for a shell to quote": {uid: user, entries: []entry{{"it's a", 0o757, user, user, ""}}, dir: "it's a", refused: `run ` + "`chmod -R o-w 'DIR/it'\\''s a'`"},
		"the command follows a link":  {uid: 0, entries: []entry{{"a", 0o700, user, user, ""}, {path: "b", link: "a"}}, dir: "b", refused: "DIR/a belongs to user 65532, and this is user 0: if only ssdprobe uses DIR/a, run `chown -R 0 DIR/a`"},
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
			if example, ok := cutOut(got, "such as ", ""); ok {
				got = asUser(t, test.uid, example)
			} else if !strings.Contains(got, "run `") {
				return // others need it as it is, so no command is suggested
			}
			mended(t, test.uid, dir, got)
		})
	}
}

// mended runs the commands that the errors suggest until none is left: one for the owner,
// and one each for the rights of the group and of others.
func mended(t *testing.T, uid int, dir, got string) {
	t.Helper()
	for range 3 {
		if command, ok := cutOut(got, "run `", "`"); ok {
			run(t, command)
			got = asUser(t, uid, dir)
		}
	}
	assert.Empty(t, got, "the commands mend it")
}

// cutOut returns the text between two others; if the second is empty, all that follows
// the first.
func cutOut(text, before, after string) (string, bool) {
	_, text, ok := strings.Cut(text, before)
	if after != "" {
		text, _, _ = strings.Cut(text, after)
	}
	return text, ok
}

// After a change of the user, one command makes the directory and everything in it
// usable: what was learned can be loaded again.
func TestCommandMendsAllFilesOfAnotherUser(t *testing.T) {
	testenv.Root(t)
	for name, before := range map[string]string{"as it was left": "true", "with its root changed alone": "chown 0 "} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(reachable(t), "state")
			entry{"state", 0o700, user, user, ""}.make(t, filepath.Dir(dir))
			require.Empty(t, asUser(t, user, dir))
			run(t, before+" "+dir)
			got := asUser(t, 0, dir)
			command, ok := cutOut(got, "run `", "`")
			require.True(t, ok, got)
			assert.Equal(t, "chown -R 0 "+dir, command)
			run(t, command)
			s, err := store.Open(dir, store.Schema{Version: 1})
			require.NoError(t, err)
			var v value
			found, err := s.Load(kind, "x", &v)
			require.NoError(t, err)
			assert.True(t, found)
			assert.Equal(t, some(1), v)
			assert.Empty(t, asUser(t, 0, dir))
		})
	}
}

// reachable returns a directory that root owns and other users may enter.
func reachable(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "trust")
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, os.RemoveAll(dir)) })
	require.NoError(t, os.Chmod(dir, 0o755))
	return dir
}

// names lists everything below a directory.
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

// asUser saves and loads a value and takes a lock as the given user, whose groups are its
// own and fsGroup; root is only in its own. It returns the first error.
func asUser(t *testing.T, uid int, dir string) string {
	t.Helper()
	credential := &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}
	if uid != 0 {
		credential.Groups = []uint32{fsGroup}
	}
	cmd := exec.Command("/proc/self/exe", "-test.run=^TestAsUser$") // only root may enter its directory
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

// TestAsUser is the process that asUser starts.
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
	s, err := store.Open(dir, store.Schema{Version: 1})
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

// A group with write access can plant anything. A file that another user wrote is not
// trusted, overwritten or moved.
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
		}, "/targets/x.json belongs to user 4711, and this is user 65532: if only ssdprobe uses DIR, run `chown -R 65532 DIR`"},
		"a file for all": {func(t *testing.T, dir string) {
			require.NoError(t, os.Chmod(filepath.Join(dir, kind, "x.json"), 0o666))
		}, "/targets/x.json is writable by all users: if only ssdprobe uses DIR, run `chmod -R o-w DIR`"},
		"another user's folder": {func(t *testing.T, dir string) {
			require.NoError(t, os.Lchown(filepath.Join(dir, kind), other, fsGroup))
		}, "DIR/targets belongs to user 4711, and this is user 65532: if only ssdprobe uses DIR, run `chown -R 65532 DIR`"},
		"a link to elsewhere": {func(t *testing.T, dir string) {
			require.NoError(t, os.RemoveAll(filepath.Join(dir, kind)))
			entry{"elsewhere", 0o777, user, user, ""}.make(t, dir)
			entry{path: kind, link: "elsewhere", owner: other}.make(t, dir)
		}, "the link DIR/targets belongs to user 4711, and this is user 65532: name another directory"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(reachable(t), "state")
			entry{"state", 0o2770, 0, fsGroup, ""}.make(t, filepath.Dir(dir))
			require.Empty(t, asUser(t, user, dir))
			// An fsGroup changes existing files in this way.
			require.NoError(t, unix.Chmod(filepath.Join(dir, kind), 0o2770))
			require.NoError(t, os.Chmod(filepath.Join(dir, kind, "x.json"), 0o660))
			require.Empty(t, asUser(t, user, dir))
			test.plant(t, dir)
			before := tree(t, dir)
			require.Contains(t, asUser(t, user, dir), strings.ReplaceAll(test.refused, "DIR", dir))
			assert.Equal(t, before, tree(t, dir), "nothing was touched")
		})
	}
}

// With an access control list, the group bits are the rights of all whom the list names.
func TestAccessControlListIsNotOverlooked(t *testing.T) {
	dir := testenv.Ext4(t, 16<<20)
	require.NoError(t, unix.Setxattr(dir, "system.posix_acl_access", accessList(other), 0))
	info, err := os.Stat(dir)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o770), info.Mode().Perm(), "the group is root's own")
	_, err = store.Open(dir, store.Schema{Version: 1})
	require.ErrorIs(t, err, store.ErrUntrusted)
	require.ErrorContains(t, err, "run `setfacl -R -b "+dir+"`")
}

// accessList returns u::rwx,u:uid:rwx,g::---,m::rwx,o::--- in the kernel's format
// (include/uapi/linux/posix_acl_xattr.h): a version, then the tag, rights and id of each
// entry.
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
