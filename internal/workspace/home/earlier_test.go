package home_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/workspace/home"
)

// zipped packs entries as another program would, in the order given.
func zipped(t *testing.T, entries ...tar.Header) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	w := tar.NewWriter(z)
	for _, h := range entries {
		body := []byte(nil)
		if h.Typeflag == tar.TypeReg {
			body = []byte("content of " + h.Name)
			h.Size = int64(len(body))
		}
		if h.Mode == 0 {
			h.Mode = 0o644
		}
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(body); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []io.Closer{w, z} {
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}

func convert(t *testing.T, from []byte) ([]byte, home.Summary, error) {
	t.Helper()
	var out bytes.Buffer
	sum, err := home.Convert(t.Context(), bytes.NewReader(from), &out, home.Limits{})
	return out.Bytes(), sum, err
}

// What tar packed as the earlier schema had it comes back file by file.
func TestAnEarlierArchiveIsConverted(t *testing.T) {
	from := t.TempDir()
	for name, text := range map[string]string{"a/b/deep.txt": "deep", "a/twin": "same", ".profile": "export A=1", "a-b/after": "order", "ünïcödé 文": "names"} {
		if err := os.MkdirAll(filepath.Join(from, filepath.Dir(name)), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(from, name), []byte(text), 0o640); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Link(filepath.Join(from, "a/twin"), filepath.Join(from, "a/z-twin")), os.Symlink("a/twin", filepath.Join(from, "link"))); err != nil {
		t.Fatal(err)
	}
	packed, err := exec.CommandContext(t.Context(), "tar", "czf", "-", "-C", from, ".").Output() // #nosec G204 -- a folder of this test
	if err != nil {
		t.Fatal(err)
	}
	archive, sum, err := convert(t, packed)
	if err != nil {
		t.Fatal(err)
	}
	verified, err := home.Verify(t.Context(), bytes.NewReader(archive), home.Limits{})
	if err != nil || verified.Entries != sum.Entries || verified.Bytes != sum.Bytes || sum.Entries != 11 {
		t.Fatalf("%+v, %+v, %v", sum, verified, err)
	}
	into := t.TempDir()
	if _, err := home.Unpack(t.Context(), bytes.NewReader(archive), into, home.Limits{}); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "diff", "-r", "--no-dereference", from, into).CombinedOutput(); err != nil { // #nosec G204 -- folders of this test
		t.Errorf("%v: %s", err, out)
	}
	one, err := os.Stat(filepath.Join(into, "a/twin"))
	two, err2 := os.Stat(filepath.Join(into, "a/z-twin"))
	if err := errors.Join(err, err2); err != nil || !os.SameFile(one, two) || one.Mode().Perm() != 0o640 {
		t.Errorf("%v, %v, %v", one, two, err)
	}
}

// What other programs leave out is made up for, and what a home does not have is left out.
func TestAnEarlierArchiveWithoutFolders(t *testing.T) {
	then := time.Unix(1_700_000_000, 0)
	archive, sum, err := convert(t, zipped(t,
		tar.Header{Typeflag: tar.TypeReg, Name: "./x/y/file", ModTime: then, Mode: 0o4755},
		tar.Header{Typeflag: tar.TypeChar, Name: "./x/device"},
		tar.Header{Typeflag: tar.TypeReg, Name: "last"},
	))
	if err != nil || sum.Entries != 5 || sum.LeftOut != 1 {
		t.Fatalf("%+v, %v", sum, err)
	}
	into := t.TempDir()
	if _, err := home.Unpack(t.Context(), bytes.NewReader(archive), into, home.Limits{}); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(into, "x/y/file"))
	if err != nil || info.Mode() != 0o755 || !info.ModTime().Equal(then) {
		t.Errorf("%v, %v", info, err)
	}
}

func TestAnEarlierArchiveIsRefused(t *testing.T) {
	file := func(name string) tar.Header { return tar.Header{Typeflag: tar.TypeReg, Name: name} }
	whole := zipped(t, file("./a"))
	flipped := bytes.Clone(whole)
	flipped[len(flipped)-6] ^= 1 // its checksum
	for name, packed := range map[string][]byte{
		"no gzip":          []byte("home.tar.gz"),
		"nothing":          nil,
		"more follows":     append(bytes.Clone(whole), zipped(t, file("./b"))...),
		"cut off":          whole[:len(whole)-20],
		"a flipped bit":    flipped,
		"absolute":         zipped(t, file("/etc/passwd")),
		"out of it":        zipped(t, file("a/../../b")),
		"twice":            zipped(t, file("a"), file("a")),
		"not in one place": zipped(t, file("a/1"), file("b/1"), file("a/2")),
	} {
		t.Run(name, func(t *testing.T) {
			if _, sum, err := convert(t, packed); !errors.Is(err, home.ErrRefused) {
				t.Errorf("%+v, %v", sum, err)
			}
		})
	}
}
