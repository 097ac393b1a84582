package home_test

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/weirhq/weir/internal/workspace/home"
)

func squeeze(t testing.TB, plain []byte) []byte {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return w.EncodeAll(plain, nil)
}

// archive makes one of headers, each with as much content as it says, behind the folder
// itself.
func archive(t testing.TB, headers ...tar.Header) []byte {
	t.Helper()
	return squeeze(t, raw(t, append([]tar.Header{{Name: "./", Typeflag: tar.TypeDir, Mode: 0o755}}, headers...)...))
}

func raw(t testing.TB, headers ...tar.Header) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range headers {
		if h.Mode == 0 {
			h.Mode = 0o644
		}
		h.Format = tar.FormatPAX
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.CopyN(w, zero{}, h.Size); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// holed makes an archive of one file with holes, as its records and its list of parts say.
// Package tar does not write such records: they get their name afterwards.
func holed(t testing.TB, records map[string]string, list string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	h := &tar.Header{Format: tar.FormatPAX, Name: "sparse", Typeflag: tar.TypeReg, Mode: 0o644, Size: 1024, PAXRecords: map[string]string{"XNU.sparse.major": "1", "XNU.sparse.minor": "0"}}
	for name, value := range records {
		h.PAXRecords["XNU.sparse."+name] = value
	}
	for _, header := range []*tar.Header{{Format: tar.FormatPAX, Name: "./", Typeflag: tar.TypeDir, Mode: 0o755}, h} {
		if err := w.WriteHeader(header); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Write(append([]byte(list), make([]byte, 1024-len(list))...)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return squeeze(t, bytes.ReplaceAll(b.Bytes(), []byte("XNU.sparse."), []byte("GNU.sparse.")))
}

// wide makes an archive that needs so much memory to be read.
func wide(t testing.TB, plain []byte, window int) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := zstd.NewWriter(&b, zstd.WithWindowSize(window), zstd.WithSingleSegment(false))
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []func() error{func() error { _, err := w.Write(plain); return err }, w.Flush, w.Close} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

type zero struct{}

func (zero) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func TestEvilArchives(t *testing.T) {
	folder := func(name string) tar.Header { return tar.Header{Name: name, Typeflag: tar.TypeDir, Mode: 0o755} }
	file := func(name string) tar.Header { return tar.Header{Name: name, Typeflag: tar.TypeReg, Size: 1} }
	link := func(name, target string) tar.Header {
		return tar.Header{Name: name, Typeflag: tar.TypeSymlink, Linkname: target}
	}
	good := archive(t, file("a"), file("b"))
	plain := raw(t, folder("./"), file("a"))
	flipped := bytes.Clone(good)
	flipped[len(flipped)/2] ^= 1
	for name, c := range map[string]struct {
		archive []byte
		limits  home.Limits
		says    string
	}{
		"absolute name":               {archive: archive(t, file("/etc/cron.d/x")), says: "leads out of the folder"},
		"name goes up":                {archive: archive(t, file("../x")), says: "leads out of the folder"},
		"name goes up in the middle":  {archive: archive(t, folder("a/"), file("a/../../x")), says: "leads out of the folder"},
		"name with a dot":             {archive: archive(t, file("./x")), says: "leads out of the folder"},
		"name with nothing":           {archive: archive(t, folder("a/"), file("a//x")), says: "leads out of the folder"},
		"file through a link":         {archive: archive(t, link("a", "/etc"), file("a/x")), says: "the folder that it is in does not come before it"},
		"file through a link within":  {archive: archive(t, folder("b/"), link("a", "b"), file("a/x")), says: "does not come before it"},
		"folder in place of a link":   {archive: archive(t, link("a", "/etc"), folder("a/")), says: "it is there twice"},
		"file in place of a link":     {archive: archive(t, link("a", "/etc/x"), file("a")), says: "it is there twice"},
		"file twice":                  {archive: archive(t, file("a"), file("a")), says: "it is there twice"},
		"folder that is not there":    {archive: archive(t, file("a/x")), says: "does not come before it"},
		"folder that was left":        {archive: archive(t, folder("a/"), folder("b/"), file("a/x")), says: "does not come before it"},
		"hard link to outside":        {archive: archive(t, tar.Header{Name: "a", Typeflag: tar.TypeLink, Linkname: "/etc/passwd"}), says: "leads out of the folder"},
		"hard link goes up":           {archive: archive(t, tar.Header{Name: "a", Typeflag: tar.TypeLink, Linkname: "../../etc/passwd"}), says: "leads out of the folder"},
		"hard link through a link":    {archive: archive(t, link("e", "/etc"), tar.Header{Name: "a", Typeflag: tar.TypeLink, Linkname: "e/passwd"}), says: "no file of this archive"},
		"hard link to a link":         {archive: archive(t, link("e", "/etc/passwd"), tar.Header{Name: "f", Typeflag: tar.TypeLink, Linkname: "e"}), says: "no file of this archive"},
		"hard link to a folder":       {archive: archive(t, folder("e/"), tar.Header{Name: "f", Typeflag: tar.TypeLink, Linkname: "e"}), says: "no file of this archive"},
		"character device":            {archive: archive(t, tar.Header{Name: "null", Typeflag: tar.TypeChar, Devmajor: 1, Devminor: 3}), says: "device node"},
		"block device":                {archive: archive(t, tar.Header{Name: "disk", Typeflag: tar.TypeBlock, Devmajor: 8}), says: "device node"},
		"unknown kind":                {archive: archive(t, tar.Header{Name: "x", Typeflag: tar.TypeCont}), says: "not known"},
		"setuid":                      {archive: archive(t, tar.Header{Name: "su", Typeflag: tar.TypeReg, Mode: 0o4755}), says: "gives the rights of another"},
		"setgid":                      {archive: archive(t, tar.Header{Name: "sg", Typeflag: tar.TypeReg, Mode: 0o2755}), says: "gives the rights of another"},
		"setuid folder":               {archive: archive(t, tar.Header{Name: "d/", Typeflag: tar.TypeDir, Mode: 0o4755}), says: "gives the rights of another"},
		"capability":                  {archive: archive(t, tar.Header{Name: "c", Typeflag: tar.TypeReg, PAXRecords: map[string]string{"SCHILY.xattr.security.capability": "x"}}), says: "not one that an archive may set"},
		"overlay attribute":           {archive: archive(t, tar.Header{Name: "c", Typeflag: tar.TypeReg, PAXRecords: map[string]string{"SCHILY.xattr.trusted.overlay.opaque": "y"}}), says: "not one that an archive may set"},
		"hidden attribute":            {archive: archive(t, tar.Header{Name: "c", Typeflag: tar.TypeReg, PAXRecords: map[string]string{"LIBARCHIVE.xattr.security.capability": "eA"}}), says: "not one that an archive may set"},
		"no folder itself":            {archive: squeeze(t, raw(t, file("a"))), says: "begins with the folder itself"},
		"folder itself twice":         {archive: archive(t, folder("./")), says: "has it once"},
		"folder itself is a link":     {archive: squeeze(t, raw(t, link("./", "/"))), says: "begins with the folder itself"},
		"link to nothing":             {archive: archive(t, link("a", strings.Repeat("x", 5000))), says: "link to nowhere"},
		"name too long":               {archive: archive(t, file(strings.Repeat("n", 256))), says: "leads out of the folder"},
		"too deep":                    {archive: archive(t, file(strings.Repeat("d/", 600)+"x")), says: "folders deep"},
		"too many entries":            {archive: archive(t, file("a"), file("b"), file("c")), limits: home.Limits{Entries: 3}, says: "more than 3 entries"},
		"too long":                    {archive: archive(t, file("a"), file("b")), limits: home.Limits{Bytes: 1}, says: "longer than 1 bytes"},
		"bomb":                        {archive: archive(t, tar.Header{Name: "z", Typeflag: tar.TypeReg, Size: 64 << 20}), limits: home.Limits{Ratio: 100}, says: "more than 100 times"},
		"hole goes up":                {archive: holed(t, map[string]string{"name": "../x", "realsize": "512"}, "1\n0\n512\n"), says: "leads out of the folder"},
		"holes that overlap":          {archive: holed(t, map[string]string{"name": "x", "realsize": "512"}, "2\n0\n300\n200\n212\n"), says: "damaged"},
		"hole that is too long":       {archive: holed(t, map[string]string{"name": "x", "realsize": "9000000000000000"}, "1\n0\n512\n"), says: "longer than 1099511627776 bytes"},
		"hole that has no end":        {archive: holed(t, map[string]string{"name": "x", "realsize": "-1"}, "1\n0\n512\n"), says: "damaged"},
		"more memory than there is":   {archive: wide(t, plain, 256<<20), says: "damaged"},
		"nothing":                     {archive: nil, says: "does not begin with the folder itself"},
		"no zstd":                     {archive: plain, says: "damaged"},
		"cut":                         {archive: good[:len(good)-5], says: "damaged"},
		"flipped bit":                 {archive: flipped, says: "refused"},
		"tar without its end":         {archive: squeeze(t, plain[:len(plain)-1024]), says: "cut off"},
		"tar with half its end":       {archive: squeeze(t, plain[:len(plain)-512]), says: "cut off"},
		"tar cut in a file":           {archive: squeeze(t, plain[:len(plain)-1600]), says: "damaged"},
		"something follows":           {archive: squeeze(t, append(bytes.Clone(plain), "more"...)), says: "something follows it"},
		"another archive follows":     {archive: append(bytes.Clone(good), good...), says: "something follows it"},
		"a gap, then another archive": {archive: squeeze(t, append(bytes.Clone(plain), plain...)), says: "something follows it"},
	} {
		t.Run(name, func(t *testing.T) {
			around := t.TempDir()
			dir := filepath.Join(around, "home")
			must(t, os.Mkdir(dir, 0o700))
			_, err := home.Unpack(t.Context(), bytes.NewReader(c.archive), dir, c.limits)
			if !errors.Is(err, home.ErrRefused) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want one that says %q", err, c.says)
			}
			if names, err := os.ReadDir(around); err != nil || len(names) != 1 {
				t.Errorf("beside the folder there is %v, %v", names, err)
			}
		})
	}
}

// Wherever an archive is cut, and whichever byte is another, it is refused: nobody gets
// a home that is not whole.
func TestDamage(t *testing.T) {
	dir := t.TempDir()
	for i := range 30 {
		must(t, os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), bytes.Repeat([]byte{byte(i), byte(i * 7)}, 50), 0o600))
	}
	var b bytes.Buffer
	want, err := home.Pack(t.Context(), dir, &b, home.Limits{})
	must(t, err)
	whole := b.Bytes()
	for k := range whole {
		if _, err := home.Verify(t.Context(), bytes.NewReader(whole[:k]), home.Limits{}); !errors.Is(err, home.ErrRefused) {
			t.Fatalf("cut at %d of %d: %v", k, len(whole), err)
		}
		other := bytes.Clone(whole)
		other[k] ^= 1 << (k % 8)
		if got, err := home.Verify(t.Context(), bytes.NewReader(other), home.Limits{}); err == nil && got.Entries != want.Entries {
			t.Fatalf("bit of byte %d of %d: %+v", k, len(whole), got)
		}
	}
}

// A bucket that fails is no damage of the archive: it may work the next time.
func TestTroubleOnTheWayIsNotDamage(t *testing.T) {
	lost := errors.New("connection reset")
	whole := archive(t)
	_, err := home.Verify(t.Context(), io.MultiReader(bytes.NewReader(whole[:len(whole)/2]), failing{lost}), home.Limits{})
	if !errors.Is(err, lost) || errors.Is(err, home.ErrRefused) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := home.Verify(ctx, bytes.NewReader(whole), home.Limits{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := home.Pack(t.Context(), t.TempDir(), full{lost}, home.Limits{}); !errors.Is(err, lost) {
		t.Error(err)
	}
}

type failing struct{ error }

func (f failing) Read([]byte) (int, error) { return 0, f.error }

type full struct{ error }

func (f full) Write([]byte) (int, error) { return 0, f.error }

// Whatever an archive says, nothing is written beside the folder.
func FuzzUnpack(f *testing.F) {
	f.Add(raw(f, tar.Header{Name: "./", Typeflag: tar.TypeDir}, tar.Header{Name: "a", Typeflag: tar.TypeSymlink, Linkname: ".."}, tar.Header{Name: "a/b", Typeflag: tar.TypeReg, Size: 3}))
	f.Add(raw(f, tar.Header{Name: "./", Typeflag: tar.TypeDir}, tar.Header{Name: "a", Typeflag: tar.TypeReg, Size: 3}, tar.Header{Name: "b", Typeflag: tar.TypeLink, Linkname: "a"}))
	f.Fuzz(func(t *testing.T, plain []byte) {
		around := t.TempDir()
		dir := filepath.Join(around, "home")
		must(t, os.Mkdir(dir, 0o700))
		_, _ = home.Unpack(t.Context(), bytes.NewReader(squeeze(t, plain)), dir, home.Limits{Entries: 100, Bytes: 1 << 20}) // what it says is another test's matter
		must(t, filepath.WalkDir(around, func(path string, d fs.DirEntry, err error) error {
			if err == nil && path != around && !strings.HasPrefix(path, dir) {
				t.Errorf("%q is outside", path)
			}
			if errors.Is(err, fs.ErrPermission) {
				return nil
			}
			return err
		}))
	})
}
