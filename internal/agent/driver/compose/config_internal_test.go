package compose

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/node"
)

// A service whose step does not specify an idle time is stopped after ten minutes, as the
// guide and the reference of definitions say.
func TestIdleUnlessTheStepSays(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "compose.yaml"), []byte("services: {}"), 0o600); err != nil {
		t.Fatal(err)
	}
	asked := node.Compose{Service: "echo", URL: "http://127.0.0.1:1/"}
	for _, test := range []struct {
		step, config, want time.Duration
	}{
		{0, 0, 10 * time.Minute}, {time.Hour, 0, time.Hour}, {0, time.Minute, time.Minute}, {time.Second, time.Minute, time.Second},
	} {
		asked.Idle = node.Span(test.step)
		got, err := Config{Folder: folder, Idle: test.config}.withDefaults().target(&asked)
		if err != nil || got.Idle != test.want {
			t.Errorf("%+v: %s, %v", test, got.Idle, err)
		}
	}
}

// A relative folder is resolved once, independently of where a command starts.
func TestARelativeFolder(t *testing.T) {
	here := t.TempDir()
	t.Chdir(here)
	if err := os.Mkdir("files", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("files/compose.yaml", []byte("services: {}"), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := New(Config{Folder: "files", Agent: "a"})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	got, err := d.cfg.target(&node.Compose{Service: "echo", URL: "http://127.0.0.1:1/"})
	if err != nil || got.File != filepath.Join(here, "files", "compose.yaml") {
		t.Errorf("%+v, %v", got, err)
	}
}
