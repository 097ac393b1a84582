package compose_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/agent/driver"
	"github.com/weirhq/weir/internal/agent/driver/compose"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/problem"
)

// No command runs for any of these, because the PATH contains none.
func TestRefusals(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	folder, outside := t.TempDir(), t.TempDir()
	for path, mode := range map[string]os.FileMode{
		filepath.Join(folder, "compose.yaml"): 0o600, filepath.Join(folder, "open.yaml"): 0o600, filepath.Join(outside, "evil.yaml"): 0o600,
	} {
		if err := os.WriteFile(path, []byte("services: {}"), mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Join(folder, "open.yaml"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(outside, "evil.yaml"), filepath.Join(folder, "link.yaml")); err != nil {
		t.Fatal(err)
	}
	good := node.Compose{File: "compose.yaml", Service: "echo", URL: "http://127.0.0.1:1/"}
	tests := map[string]struct {
		change func(*node.Compose)
		kind   problem.Kind
		field  string
	}{
		"no service":            {func(c *node.Compose) { c.Service = "" }, problem.Invalid, "compose.service"},
		"an option":             {func(c *node.Compose) { c.Service = "--build" }, problem.Invalid, "compose.service"},
		"two services":          {func(c *node.Compose) { c.Service = "a b" }, problem.Invalid, "compose.service"},
		"no address":            {func(c *node.Compose) { c.URL = "" }, problem.Invalid, "compose.url"},
		"a file that is not":    {func(c *node.Compose) { c.File = "no.yaml" }, problem.NotFound, "compose.file"},
		"out of the folder":     {func(c *node.Compose) { c.File = "../" + filepath.Base(outside) + "/evil.yaml" }, problem.NotFound, "compose.file"},
		"a full path":           {func(c *node.Compose) { c.File = filepath.Join(outside, "evil.yaml") }, problem.NotFound, "compose.file"},
		"a link out of it":      {func(c *node.Compose) { c.File = "link.yaml" }, problem.NotFound, "compose.file"},
		"the folder":            {func(c *node.Compose) { c.File = "." }, problem.Invalid, "compose.file"},
		"writable by everybody": {func(c *node.Compose) { c.File = "open.yaml" }, problem.Forbidden, "compose.file"},
		"no compose here":       {func(*node.Compose) {}, problem.Failed, ""},
		"the usual file":        {func(c *node.Compose) { c.File = "" }, problem.Failed, ""},
	}
	d, err := compose.New(compose.Config{Folder: folder, Agent: "a"})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			asked := good
			test.change(&asked)
			w := driver.Work{Task: "t", Attempt: 1, Service: "s", Run: node.Run{Compose: &asked}}
			_, err := d.Start(context.Background(), w, &output{})
			wantProblem(t, err, test.kind, test.field)
		})
	}
	wantProblem(t, d.Check(context.Background()), problem.Failed, "")
}

// The plug-in comes first, and compose does not get the agent's own environment.
func TestPlugInComesFirst(t *testing.T) {
	bin := t.TempDir()
	script := "#!/bin/sh\n[ \"$1\" = compose ] || exit 1\n[ -z \"$WEIR_SECRET\" ] || exit 1\necho 2.40.0\n"
	for _, name := range []string{"docker", "docker-compose"} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	t.Setenv("WEIR_SECRET", "s3cret")
	d, err := compose.New(compose.Config{Folder: t.TempDir(), Agent: "a"})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	which, err := d.Which(context.Background())
	if err != nil || strings.TrimSpace(which) != "docker compose 2.40.0" {
		t.Errorf("it is %q, %v", which, err)
	}
}

// If no engine answers, Check fails, whatever the compose command prints.
func TestNoEngineNoCompose(t *testing.T) {
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "docker"), []byte("#!/bin/sh\necho 2.40.0\n"), 0o700); err != nil { // #nosec G306 -- it is run
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	d, err := compose.New(compose.Config{Folder: t.TempDir(), Agent: "a", Host: "unix://" + filepath.Join(bin, "no.sock")})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	err = d.Check(t.Context())
	if err == nil || !strings.Contains(problem.Explain(err).What, "Docker") {
		t.Errorf("it says %v", err)
	}
}
