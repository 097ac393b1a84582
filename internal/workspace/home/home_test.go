package home_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weirhq/weir/internal/workspace/home"
)

// tree makes a folder of all that file systems can do to an archive.
func tree(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "home")
	must(t, os.Mkdir(dir, 0o750))
	write := func(name, text string, mode os.FileMode) {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
		must(t, os.Chmod(filepath.Join(dir, name), mode))
	}
	write("empty", "", 0o644)
	write("plain.txt", "a line\n", 0o640)
	write("run.sh", "#!/bin/sh\n", 0o755)
	write("한국어/ékezetes/🙂", "names of people", 0o644)
	write("caf\u00e9", "one letter", 0o644)
	write("cafe\u0301", "two: another name, although it looks the same", 0o644)
	for _, odd := range []string{"...", "..data", " ", "ends with space ", "back\\slash", "*?[a]", "a:b", "line\nbreak", "=", "PaxHeaders.0", "GNUSparseFile.0"} {
		write("odd/"+odd, odd, 0o644)
	}
	write(strings.Repeat("n", 200)+"/"+strings.Repeat("m", 255), "long names", 0o644)
	write("bytes \xff\xfe\n\ttab", "not UTF-8", 0o600)
	write("-rf", "looks like a flag", 0o600)
	write("no rights", "secret", 0)
	write("a/b/c/d/e/f/g", "deep", 0o444)
	for i := range 60 {
		write(strings.Repeat("deep/", i+1)+"file", fmt.Sprint(i), 0o644)
	}
	must(t, os.Link(filepath.Join(dir, "plain.txt"), filepath.Join(dir, "a/hard")))
	must(t, os.Link(filepath.Join(dir, "plain.txt"), filepath.Join(dir, "z hard")))
	for name, target := range map[string]string{
		"odd link": " \n\xff=../", "link to a folder": "a/b/", "link to itself": ".", "link": "plain.txt", "dangling": "nowhere/at all", "absolute": "/etc/passwd", "up": "../../..", "loop": "loop", "long": strings.Repeat("x/", 2000),
	} {
		must(t, os.Symlink(target, filepath.Join(dir, name)))
	}
	must(t, unix.Mkfifo(filepath.Join(dir, "pipe"), 0o620))
	must(t, os.Mkdir(filepath.Join(dir, "shared"), 0o755))
	must(t, os.Chmod(filepath.Join(dir, "shared"), 0o775|fs.ModeSetgid|fs.ModeSticky))
	must(t, os.Mkdir(filepath.Join(dir, "closed"), 0o700))
	write("closed/inside", "kept", 0o400)

	sparse(t, filepath.Join(dir, "sparse"), 5<<30, 0, 1<<20, 3<<30, 5<<30-4096)
	sparse(t, filepath.Join(dir, "hole at both ends"), 10<<20, 4<<20)
	sparse(t, filepath.Join(dir, "one hole"), 1<<30)
	sparse(t, filepath.Join(dir, "odd end"), 1<<20+17, 1<<20+10)
	sparse(t, filepath.Join(dir, "before 1970"), 1<<20, 4096)
	must(t, os.Link(filepath.Join(dir, "sparse"), filepath.Join(dir, "sparse, too")))
	must(t, os.Mkdir(filepath.Join(dir, "empty folder"), 0o555))

	attribute := func(name, key, value string) {
		if err := unix.Setxattr(filepath.Join(dir, name), key, []byte(value), 0); err != nil && !errors.Is(err, unix.ENOTSUP) {
			t.Fatal(err)
		}
	}
	attribute("plain.txt", "user.origin", "https://example.org/?a=b")
	attribute("plain.txt", "user.with=sign", "x")
	attribute("plain.txt", "user.binary", "\x00\x01\xff\n")
	attribute("sparse", "user.kind", "disk image")
	attribute("shared", "user.team", "")
	attribute(".", "user.root", "the folder itself")
	attribute("a/b", "system.posix_acl_access", access)
	attribute("a/b", "system.posix_acl_default", access)
	attribute("run.sh", "system.posix_acl_access", access)
	must(t, os.Chmod(filepath.Join(dir, "closed"), 0o500))

	n := int64(0)
	must(t, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		n++
		if os.Geteuid() == 0 {
			must(t, os.Lchown(path, int(1000+n), int(2000+n)))
		}
		return err
	}))
	if os.Geteuid() == 0 { // changes of owners take bits away
		must(t, os.Chmod(filepath.Join(dir, "shared"), 0o775|fs.ModeSetgid|fs.ModeSticky))
	}
	must(t, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		n++
		times := []unix.Timespec{{Nsec: unix.UTIME_OMIT}, {Sec: 1_600_000_000 + n, Nsec: n * 1001}}
		switch filepath.Base(path) {
		case "before 1970", "empty":
			times[1] = unix.Timespec{Sec: -86400*365 - n, Nsec: 250_000_001}
		case "run.sh":
			times[1] = unix.Timespec{Sec: 5_000_000_000, Nsec: 999_999_999} // 2128
		}
		must(t, unix.UtimesNanoAt(unix.AT_FDCWD, path, times, unix.AT_SYMLINK_NOFOLLOW))
		return err
	}))
	return dir
}

// access is a list that lets user 7 read and write, as the kernel keeps it: version 2, then
// tag, rights and id of the owner, of user 7, of the group, the mask and the others.
const access = "\x02\x00\x00\x00" +
	"\x01\x00\x07\x00\xff\xff\xff\xff" + "\x02\x00\x06\x00\x07\x00\x00\x00" + "\x04\x00\x05\x00\xff\xff\xff\xff" + "\x10\x00\x07\x00\xff\xff\xff\xff" + "\x20\x00\x05\x00\xff\xff\xff\xff"

// sparse makes a file of so many bytes with a little data at some places.
func sparse(t *testing.T, path string, size int64, at ...int64) {
	t.Helper()
	f, err := os.Create(path)
	must(t, err)
	must(t, f.Truncate(size))
	for _, place := range at {
		_, err := f.WriteAt([]byte("data"), place)
		must(t, err)
	}
	must(t, f.Close())
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// describe is a line for each thing in a folder: all that must be the same afterwards.
func describe(t *testing.T, dir string) map[string]string {
	t.Helper()
	found, inodes := map[string]string{}, map[uint64]string{}
	must(t, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := os.Lstat(path)
		must(t, err)
		st := info.Sys().(*syscall.Stat_t)
		name := strings.TrimPrefix(path, dir)
		line := fmt.Sprintf("%v %d:%d %s", info.Mode(), st.Uid, st.Gid, info.ModTime().UTC().Format(time.RFC3339Nano))
		switch info.Mode().Type() {
		case fs.ModeSymlink:
			target, err := os.Readlink(path)
			must(t, err)
			line += " -> " + target
		case 0:
			if first, again := inodes[st.Ino]; again {
				line += " = " + first
				break
			}
			inodes[st.Ino] = name
			line += fmt.Sprintf(" %d bytes %x", info.Size(), digest(t, path, info.Size()))
		}
		if info.Mode().Type() != fs.ModeSymlink && info.Mode().Type() != fs.ModeNamedPipe {
			line += attributesOf(t, path)
		}
		found[name] = line
		return nil
	}))
	return found
}

// digest of a file; of a long one, of its parts that have data.
func digest(t *testing.T, path string, size int64) []byte {
	t.Helper()
	f, err := os.Open(path)
	must(t, err)
	defer f.Close()
	h := sha256.New()
	if size < 64<<20 {
		_, err = io.Copy(h, f)
		must(t, err)
		return h.Sum(nil)
	}
	for at := int64(0); ; {
		begin, err := f.Seek(at, unix.SEEK_DATA)
		if errors.Is(err, unix.ENXIO) {
			return h.Sum(nil)
		}
		must(t, err)
		at, err = f.Seek(begin, unix.SEEK_HOLE)
		must(t, err)
		fmt.Fprintf(h, "%d-%d\n", begin, at)
		_, err = io.Copy(h, io.NewSectionReader(f, begin, at-begin))
		must(t, err)
	}
}

func attributesOf(t *testing.T, path string) string {
	t.Helper()
	buffer := make([]byte, 4096)
	n, err := unix.Llistxattr(path, buffer)
	if errors.Is(err, unix.ENOTSUP) {
		return ""
	}
	must(t, err)
	names, text := strings.Split(strings.TrimSuffix(string(buffer[:n]), "\x00"), "\x00"), ""
	slices.Sort(names)
	for _, name := range names {
		if !strings.HasPrefix(name, "user.") && !strings.HasPrefix(name, "system.posix_acl") {
			continue
		}
		value := make([]byte, 4096)
		n, err := unix.Lgetxattr(path, name, value)
		must(t, err)
		text += fmt.Sprintf(" %s=%q", name, value[:n])
	}
	return text
}

func same(t *testing.T, want, got map[string]string) {
	t.Helper()
	for name, line := range want {
		if got[name] != line {
			t.Errorf("%q:\n was %s\n is  %s", name, line, got[name])
		}
	}
	for name := range got {
		if want[name] == "" {
			t.Errorf("%q has come from nowhere", name)
		}
	}
}

func blocks(t *testing.T, path string) int64 {
	t.Helper()
	var st syscall.Stat_t
	must(t, syscall.Stat(path, &st))
	return st.Blocks * 512
}

func TestRoundTrip(t *testing.T) {
	dir := tree(t)
	before := describe(t, dir)
	var archive bytes.Buffer
	packed, err := home.Pack(t.Context(), dir, &archive, home.Limits{})
	must(t, err)
	if packed.Entries != int64(len(before)) || packed.LeftOut != 0 {
		t.Errorf("%d things are packed as %+v", len(before), packed)
	}
	if archive.Len() > 1<<20 {
		t.Errorf("7 GB of holes take %d bytes", archive.Len())
	}
	verified, err := home.Verify(t.Context(), bytes.NewReader(archive.Bytes()), home.Limits{})
	must(t, err)
	back := filepath.Join(t.TempDir(), "back")
	must(t, os.Mkdir(back, 0o700))
	unpacked, err := home.Unpack(t.Context(), bytes.NewReader(archive.Bytes()), back, home.Limits{})
	must(t, err)
	for what, sum := range map[string]home.Summary{"verified": verified, "unpacked": unpacked} {
		if sum.Entries != packed.Entries || sum.Bytes != packed.Bytes {
			t.Errorf("packed %+v, %s %+v", packed, what, sum)
		}
	}
	same(t, before, describe(t, back))
	if n := blocks(t, filepath.Join(back, "sparse")); n > 1<<20 {
		t.Errorf("5 GB of holes have become %d bytes", n)
	}
	var again bytes.Buffer
	_, err = home.Pack(t.Context(), back, &again, home.Limits{})
	must(t, err)
	if !bytes.Equal(archive.Bytes(), again.Bytes()) {
		t.Error("the same home makes another archive")
	}
}

// Somebody with GNU tar and zstd alone has all of it.
func TestOthersCanReadIt(t *testing.T) {
	for _, program := range []string{"tar", "zstd"} {
		if _, err := exec.LookPath(program); err != nil {
			if os.Getenv("CI") == "true" {
				t.Fatalf("%s is not installed: apt-get install -y %s", program, program)
			}
			t.Skipf("SKIPPED, NOT TESTED: %s is not installed: apt-get install -y %s", program, program)
		}
	}
	dir := tree(t)
	before := describe(t, dir)
	file := filepath.Join(t.TempDir(), "home.tar.zst")
	f, err := os.Create(file)
	must(t, err)
	_, err = home.Pack(t.Context(), dir, f, home.Limits{})
	must(t, err)
	must(t, f.Close())
	back := filepath.Join(t.TempDir(), "back")
	must(t, os.Mkdir(back, 0o700))
	cmd := exec.CommandContext(t.Context(), "tar", "--zstd", "--xattrs", "--xattrs-include=user.*", "--xattrs-include=system.posix_acl_*", "--same-owner", "--same-permissions", "--numeric-owner", "-xf", file, "-C", back)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	after := describe(t, back)
	// GNU tar does not know how others write a name with =.
	for name, line := range before {
		before[name] = strings.Replace(line, ` user.with=sign="x"`, "", 1)
	}
	same(t, before, after)
}

// many makes so many small files, a thousand to a folder, brings them back, and compares.
func many(t *testing.T, files int) {
	dir := t.TempDir()
	for i := range files {
		if i%1000 == 0 {
			must(t, os.Mkdir(filepath.Join(dir, fmt.Sprint(i/1000)), 0o755))
		}
		must(t, os.WriteFile(filepath.Join(dir, fmt.Sprint(i/1000), fmt.Sprint(i)), []byte(fmt.Sprint(i)), 0o600))
	}
	before := describe(t, dir)
	start := time.Now()
	var archive bytes.Buffer
	packed, err := home.Pack(t.Context(), dir, &archive, home.Limits{})
	must(t, err)
	pack := time.Since(start)
	start = time.Now()
	_, err = home.Verify(t.Context(), bytes.NewReader(archive.Bytes()), home.Limits{})
	must(t, err)
	verify := time.Since(start)
	start = time.Now()
	back := t.TempDir()
	unpacked, err := home.Unpack(t.Context(), bytes.NewReader(archive.Bytes()), back, home.Limits{})
	must(t, err)
	t.Logf("%d files: packed in %s (%d bytes), verified in %s, unpacked in %s", files, pack.Round(time.Millisecond), archive.Len(), verify.Round(time.Millisecond), time.Since(start).Round(time.Millisecond))
	if unpacked.Entries != packed.Entries || packed.Entries != int64(1+files+(files+999)/1000) {
		t.Errorf("%+v and %+v", packed, unpacked)
	}
	same(t, before, describe(t, back))
}

// All 100,000 are in TestLongManyFiles (build tag chaos).
func TestManyFiles(t *testing.T) { many(t, 2_000) }

func TestEmpty(t *testing.T) {
	var archive bytes.Buffer
	sum, err := home.Empty(&archive, os.Getuid(), os.Getgid(), time.Unix(1_700_000_000, 5))
	must(t, err)
	back := t.TempDir()
	got, err := home.Unpack(t.Context(), &archive, back, home.Limits{})
	must(t, err)
	if sum.Entries != 1 || got.Entries != 1 {
		t.Errorf("%+v, %+v", sum, got)
	}
	info, err := os.Stat(back)
	must(t, err)
	if info.Mode().Perm() != 0o755 || !info.ModTime().Equal(time.Unix(1_700_000_000, 5)) {
		t.Errorf("the folder is %v of %v", info.Mode(), info.ModTime())
	}
}

// What cannot be kept is named, and rights of the machine are not carried on.
func TestWhatIsLeft(t *testing.T) {
	dir := t.TempDir()
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	must(t, err)
	defer unix.Close(fd)
	must(t, unix.Bind(fd, &unix.SockaddrUnix{Name: filepath.Join(dir, "socket")}))
	must(t, os.WriteFile(filepath.Join(dir, "su"), nil, 0o600))
	must(t, os.Chmod(filepath.Join(dir, "su"), 0o755|fs.ModeSetuid|fs.ModeSetgid))
	var archive bytes.Buffer
	sum, err := home.Pack(t.Context(), dir, &archive, home.Limits{})
	must(t, err)
	if sum.LeftOut != 1 || len(sum.Left) != 1 || sum.Left[0] != `"socket": a socket cannot be kept` {
		t.Errorf("%+v", sum)
	}
	back := t.TempDir()
	_, err = home.Unpack(t.Context(), &archive, back, home.Limits{})
	must(t, err)
	info, err := os.Stat(filepath.Join(back, "su"))
	must(t, err)
	if info.Mode() != 0o755 {
		t.Errorf("the mode is %v", info.Mode())
	}
}

func TestUnpackWantsAnEmptyFolder(t *testing.T) {
	var archive bytes.Buffer
	_, err := home.Empty(&archive, 0, 0, time.Now())
	must(t, err)
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "mine"), nil, 0o600))
	if _, err := home.Unpack(t.Context(), &archive, dir, home.Limits{}); err == nil || !strings.Contains(err.Error(), "is not empty") {
		t.Error(err)
	}
}
