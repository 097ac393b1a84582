package process_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/weirhq/weir/internal/workspace/home"
	"github.com/weirhq/weir/internal/workspace/provider"
)

// A restore is all or nothing: cut at any tenth of the archive, or damaged there, it leaves no
// home that a look takes for one, and the next try gives back every file.
func TestR11ARestoreIsAllOrNothing(t *testing.T) {
	from := t.TempDir()
	for _, name := range []string{"a", "b", "c"} {
		ok(t, os.WriteFile(filepath.Join(from, name), bytes.Repeat([]byte(name), 64<<10), 0o600))
	}
	var packed bytes.Buffer
	_, err := home.Pack(t.Context(), from, &packed, home.Limits{})
	ok(t, err)
	archive := packed.Bytes()
	dir := shortDir(t)
	p := newProvider(t, dir)
	id, as := newID(), provider.Volume{Marker: "key", Mounts: 1}
	try := func(what string, text []byte) {
		t.Helper()
		if err := p.Restore(t.Context(), id, bytes.NewReader(text), as); err == nil {
			t.Errorf("%s: it says that it is done", what)
		}
		if w, err := p.Look(t.Context()); err != nil || w.Volumes[id].Marker != "" {
			t.Errorf("%s: a look takes it for a home: %+v, %v", what, w.Volumes[id], err)
		}
		if _, err := os.Stat(filepath.Join(dir, "volumes", "ws-"+id.String()+"-home", "data")); err == nil {
			t.Errorf("%s: a part of it is where the home lies", what)
		}
	}
	for i := range 10 {
		try("cut", archive[:len(archive)*i/10])
		damaged := bytes.Clone(archive)
		damaged[len(damaged)*i/10] ^= 0x10
		try("damaged", damaged)
	}
	ok(t, p.Restore(t.Context(), id, bytes.NewReader(archive), as))
	if w, err := p.Look(t.Context()); err != nil || w.Volumes[id].Marker != "key" {
		t.Errorf("it sees %+v, %v", w.Volumes[id], err)
	}
	for _, name := range []string{"a", "b", "c"} {
		text, err := os.ReadFile(filepath.Join(dir, "volumes", "ws-"+id.String()+"-home", "data", name))
		if err != nil || !bytes.Equal(text, bytes.Repeat([]byte(name), 64<<10)) {
			t.Errorf("%s has %d bytes, %v", name, len(text), err)
		}
	}
}
