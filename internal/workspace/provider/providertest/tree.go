package providertest

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weirhq/weir/internal/workspace/home"
)

// tree is a home with what is easily lost on the way: holes, attributes, links, owners,
// modes, times, and all of that for the folder itself.
func (r *rig) tree() string {
	r.Helper()
	dir := filepath.Join(r.TempDir(), "home")
	r.ok(os.Mkdir(dir, 0o750))
	at := func(name string) string { return filepath.Join(dir, name) }
	r.ok(os.MkdirAll(at("한국어/"+strings.Repeat("n", 200)), 0o755)) // #nosec G301 -- the same
	for name, mode := range map[string]os.FileMode{"plain.txt": 0o640, "run.sh": 0o755, "no rights": 0, "한국어/" + strings.Repeat("n", 200) + "/deep": 0o444} {
		r.ok(os.WriteFile(at(name), []byte("the text of "+name), 0o600))
		r.ok(os.Chmod(at(name), mode))
	}
	r.ok(os.Link(at("plain.txt"), at("hard")))
	r.ok(os.Symlink("../../etc/passwd", at("link")))
	r.ok(os.Mkdir(at("closed"), 0o700))
	r.ok(os.WriteFile(at("closed/within"), nil, 0o400))
	sparse, err := os.Create(at("sparse"))
	r.ok(err)
	r.ok(sparse.Truncate(1 << 30))
	_, err = sparse.WriteAt([]byte("data"), 512<<20)
	r.ok(err)
	r.ok(sparse.Close())
	for name, key := range map[string]string{"plain.txt": "user.origin", ".": "user.root"} {
		r.ok(unix.Setxattr(at(name), key, []byte("of "+name), 0))
	}
	n := 0
	r.ok(filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		n++
		if err == nil && os.Geteuid() == 0 {
			err = os.Lchown(path, 3000+n, 4000+n) // #nosec G122 -- in a folder that the test has made
		}
		return err
	}))
	r.ok(os.Mkdir(at("shared"), 0o755)) // #nosec G301 -- a mode that has to come back
	r.ok(os.Chmod(at("shared"), 0o775|fs.ModeSetgid|fs.ModeSticky))
	r.ok(os.Chmod(at("closed"), 0o500)) // #nosec G302 -- a folder
	r.ok(filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		n++
		if err != nil {
			return err
		}
		return unix.UtimesNanoAt(unix.AT_FDCWD, path, []unix.Timespec{{Nsec: unix.UTIME_OMIT}, {Sec: int64(1_600_000_000 + n), Nsec: int64(n * 1001)}}, unix.AT_SYMLINK_NOFOLLOW)
	}))
	r.Cleanup(func() { _ = os.Chmod(at("closed"), 0o700) }) // #nosec G302 -- so that it can be removed
	return dir
}

// pack is the archive of a folder.
func (r *rig) pack(dir string) []byte {
	r.Helper()
	var text bytes.Buffer
	_, err := home.Pack(r.Context(), dir, &text, home.Limits{})
	r.ok(err)
	return text.Bytes()
}

// describe is a line for each thing in a folder: all that must be the same afterwards.
func describe(r *rig, dir string) map[string]string {
	r.Helper()
	found, inodes := map[string]string{}, map[uint64]string{}
	r.ok(filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := os.Lstat(path)
		if err != nil {
			return err
		}
		st := info.Sys().(*syscall.Stat_t)
		name := strings.TrimPrefix(path, dir)
		line := fmt.Sprintf("%v %d:%d %s", info.Mode(), st.Uid, st.Gid, info.ModTime().UTC().Format(time.RFC3339Nano))
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			line += " -> " + target
			if err != nil {
				return err
			}
		case info.Mode().IsRegular():
			line += r.content(path, st, inodes)
			inodes[st.Ino] = name
		}
		for _, key := range []string{"user.origin", "user.root"} {
			value := make([]byte, 100)
			if n, err := unix.Lgetxattr(path, key, value); err == nil {
				line += fmt.Sprintf(" %s=%s", key, value[:n])
			}
		}
		found[name] = line
		return nil
	}))
	return found
}

// content says what is in a file, or of which it is another name.
func (r *rig) content(path string, st *syscall.Stat_t, inodes map[uint64]string) string {
	r.Helper()
	if first, again := inodes[st.Ino]; again {
		return " = " + first
	}
	if st.Size > 1<<20 {
		f, err := os.Open(path)
		r.ok(err)
		defer f.Close()
		word := make([]byte, 4)
		_, err = f.ReadAt(word, st.Size/2)
		r.ok(err)
		return fmt.Sprintf(" %d bytes, sparse: %v, in the middle %q", st.Size, st.Blocks*512 < st.Size/2, word)
	}
	text, err := os.ReadFile(path)
	r.ok(err)
	return fmt.Sprintf(" %q", text)
}
