package home_test

import (
	"bytes"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/workspace/home"
)

// meddler does something once, when so much has been written.
type meddler struct {
	io.Writer
	left   int
	meddle func()
}

func (m *meddler) Write(p []byte) (int, error) {
	if m.left -= len(p); m.left <= 0 && m.meddle != nil {
		m.meddle()
		m.meddle = nil
	}
	return m.Writer.Write(p)
}

// noise is what does not get shorter by packing.
func noise(n int) []byte {
	text := make([]byte, n)
	from := rand.NewChaCha8([32]byte{7})
	_, _ = from.Read(text) // never fails
	return text
}

// A home that somebody changes while it is packed: no archive says that it is whole if it
// is not, and what is in one is what was there.
func TestWhoeverChangesAHomeWhileItIsPacked(t *testing.T) {
	const big = 6 << 20
	for name, c := range map[string]struct {
		meddle func(dir string) error
		// says why there is no archive; empty: there is one.
		says string
	}{
		"a file becomes shorter":      {func(dir string) error { return os.Truncate(filepath.Join(dir, "b"), 1<<20) }, "it was changed while it was packed"},
		"a file becomes longer":       {func(dir string) error { return os.Truncate(filepath.Join(dir, "b"), 2*big) }, ""},
		"a file vanishes":             {func(dir string) error { return os.Remove(filepath.Join(dir, "z", "file")) }, ""},
		"a file vanishes in this one": {func(dir string) error { return os.Remove(filepath.Join(dir, "c")) }, "no such file"},
		"a folder vanishes":           {func(dir string) error { return os.RemoveAll(filepath.Join(dir, "z")) }, "no such file"},
		"a folder is moved": {func(dir string) error {
			return os.Rename(filepath.Join(dir, "z"), filepath.Join(dir, "c2"))
		}, "no such file"},
		"everything vanishes": {os.RemoveAll, "no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "home")
			must(t, os.MkdirAll(filepath.Join(dir, "z"), 0o700))
			text := noise(big)
			for name, text := range map[string][]byte{"b": text, "c": []byte("c"), "z/file": []byte("z")} {
				must(t, os.WriteFile(filepath.Join(dir, name), text, 0o600))
			}
			var archive bytes.Buffer
			w := &meddler{&archive, 2 << 20, func() { must(t, c.meddle(dir)) }}
			packed, err := home.Pack(t.Context(), dir, w, home.Limits{})
			if w.meddle != nil {
				t.Fatal("nobody has meddled")
			}
			if c.says != "" {
				if err == nil || !strings.Contains(err.Error(), c.says) {
					t.Errorf("%+v, %v", packed, err)
				}
				if _, err := home.Verify(t.Context(), &archive, home.Limits{}); err == nil {
					t.Error("what was written passes for an archive")
				}
				return
			}
			must(t, err)
			back := t.TempDir()
			_, err = home.Unpack(t.Context(), &archive, back, home.Limits{})
			must(t, err)
			if got, err := os.ReadFile(filepath.Join(back, "b")); err != nil || !bytes.Equal(got, text) {
				t.Errorf("%d bytes are back, %v", len(got), err)
			}
		})
	}
}

// Paths that are longer than a path may be, for whoever gives them in one piece.
func TestLongPaths(t *testing.T) {
	const deep = 40
	name := strings.Repeat("n", 200)
	dir := filepath.Join(t.TempDir(), "home")
	must(t, os.Mkdir(dir, 0o700))
	// down calls f in each folder, from the top.
	down := func(dir string, f func(here *os.Root, depth int)) {
		t.Helper()
		here, err := os.OpenRoot(dir)
		must(t, err)
		for depth := range deep {
			f(here, depth)
			if depth == deep-1 {
				break
			}
			inner, err := here.OpenRoot(name)
			must(t, err)
			must(t, here.Close())
			here = inner
		}
		must(t, here.Close())
	}
	down(dir, func(here *os.Root, depth int) {
		must(t, here.WriteFile("file", []byte{byte(depth)}, 0o600))
		must(t, here.Link("file", name+"2"))
		must(t, here.Symlink(strings.Repeat("../", depth)+"file", "up"))
		must(t, here.Mkdir(name, 0o700))
	})
	var archive bytes.Buffer
	packed, err := home.Pack(t.Context(), dir, &archive, home.Limits{})
	must(t, err)
	if packed.Entries != 1+4*deep {
		t.Errorf("%+v", packed)
	}
	back := filepath.Join(t.TempDir(), "back")
	must(t, os.Mkdir(back, 0o700))
	_, err = home.Unpack(t.Context(), &archive, back, home.Limits{})
	must(t, err)
	down(back, func(here *os.Root, depth int) {
		text, err := here.ReadFile("file")
		must(t, err)
		target, err := here.Readlink("up")
		must(t, err)
		one, err := here.Lstat("file")
		must(t, err)
		two, err := here.Lstat(name + "2")
		must(t, err)
		if len(text) != 1 || int(text[0]) != depth || target != strings.Repeat("../", depth)+"file" || !os.SameFile(one, two) {
			t.Errorf("%d folders deep: %v, %q", depth, text, target)
		}
	})
	for _, folder := range []string{dir, back} {
		must(t, os.RemoveAll(folder))
	}
}

// Deeper than that it is said to be too deep, and not left out.
func TestTooDeep(t *testing.T) {
	dir := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(dir, strings.Repeat("d/", 520)), 0o700))
	if _, err := home.Pack(t.Context(), dir, io.Discard, home.Limits{}); err == nil || !strings.Contains(err.Error(), "more than 512 folders deep: move it up") {
		t.Error(err)
	}
}

// A hundred megabytes of zeros without a hole is what shrinks most: it passes for no bomb, and comes
// back.
func TestZerosAreNoBomb(t *testing.T) {
	dir := t.TempDir()
	f, err := os.Create(filepath.Join(dir, "zeros"))
	must(t, err)
	const size = 128 << 20
	chunk := make([]byte, 8<<20)
	for range size / len(chunk) {
		_, err := f.Write(chunk)
		must(t, err)
	}
	must(t, f.Close())
	if blocks(t, f.Name()) < size {
		t.Fatal("it has holes")
	}
	var archive bytes.Buffer
	_, err = home.Pack(t.Context(), dir, &archive, home.Limits{})
	must(t, err)
	back := t.TempDir()
	_, err = home.Unpack(t.Context(), &archive, back, home.Limits{})
	must(t, err)
	if info, err := os.Stat(filepath.Join(back, "zeros")); err != nil || info.Size() != size || info.Mode() != fs.FileMode(0o644) {
		t.Errorf("%v, %v", info, err)
	}
}
