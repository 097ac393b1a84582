package docker_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/moby/moby/client"

	"github.com/weirhq/weir/internal/dockertest"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/workspace/provider"
	"github.com/weirhq/weir/internal/workspace/provider/docker"
	"github.com/weirhq/weir/internal/workspace/provider/providertest"
)

// Any image runs that is allowed: its own command, its own user, its home and port as its
// labels say, and what it has at the place of the home is there at first.
func TestAnyImageRuns(t *testing.T) {
	t.Parallel()
	host := dockertest.Daemon(t)
	p, e := newProvider(t, host, "image", func(c *docker.Config) { c.Images = []string{"weir.test/*"} }), newEngine(t, host)
	providertest.Image(t, host, "weir.test/other:1", `ENTRYPOINT ["/program","serve","--home","/srv","--listen","127.0.0.1:9000"]`, "USER 4711:4711",
		"LABEL weir.workspace.home=/srv", "EXPOSE 9000", "VOLUME /cache", "VOLUME /srv")
	id := newID()
	t.Cleanup(func() { clear(t, p, id) })
	if err := p.Provision(t.Context(), id, 0); err != nil {
		t.Fatal(err)
	}
	if err := p.Start(t.Context(), provider.Spec{ID: id, Name: "other", Image: "weir.test/other:1", Mounts: 1}); err != nil {
		t.Fatal(err)
	}
	answers(t, p, id)
	if code, text := read(t, p, id, "/files/welcome"); code != 200 || text != "hello" {
		t.Errorf("%d %q", code, text)
	}
	c := e.container(id)
	wantConfined(t, c, 256<<20)
	if c.Config.User != "4711:4711" {
		t.Errorf("it runs as %q", c.Config.User)
	}
	all, err := e.VolumeList(e.ctx(), client.VolumeListOptions{})
	e.ok(err)
	for _, v := range all.Items {
		if !strings.HasPrefix(v.Name, "ws-") && !strings.HasPrefix(v.Name, "weir-tool-") {
			t.Errorf("the image has got a volume of its own: %+v", v)
		}
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, "http://workspace/files/mine", strings.NewReader("kept"))
	e.ok(err)
	answer, err := through(p, id).Do(request)
	e.ok(err)
	e.ok(answer.Body.Close())
	if answer.StatusCode != http.StatusNoContent {
		t.Errorf("its user cannot write to its home: %s", answer.Status)
	}
}

func TestImagesThatCannotBeHad(t *testing.T) {
	t.Parallel()
	host := dockertest.Daemon(t)
	e := newEngine(t, host)
	for _, name := range []string{"weir.test/other:1", "weir.test/deep/other:1"} { // they could be had
		providertest.Image(t, host, name)
	}
	registry := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v2/" {
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"errors":[{"code":"MANIFEST_UNKNOWN","message":"manifest unknown"}]}`)
	}))
	t.Cleanup(registry.Close)
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	found, err := e.ImageInspect(e.ctx(), "weir.test/other:1")
	e.ok(err)
	tests := map[string]struct {
		image   string
		allowed []string
		pull    string
		healing bool // it may be had another time
		named   bool // its name alone is refused
	}{
		"nothing is allowed":              {image: "weir.test/other:1", named: true},
		"another is allowed":              {image: "weir.test/other:1", allowed: []string{"weir.test/this:*", "other"}, named: true},
		"no slash is crossed":             {image: "weir.test/deep/other:1", allowed: []string{"weir.test/*"}, named: true},
		"no name":                         {image: "UPPER CASE", allowed: []string{"**"}, named: true},
		"a name like a flag":              {image: "--privileged", allowed: []string{"**"}, named: true},
		"an id":                           {image: strings.TrimPrefix(found.ID, "sha256:"), allowed: []string{"**"}, named: true},
		"the beginning of an id":          {image: strings.TrimPrefix(found.ID, "sha256:")[:12], allowed: []string{"**"}},
		"not there, and none is pulled":   {image: "weir.test/absent:1", allowed: []string{"**"}},
		"the registry does not have it":   {image: strings.TrimPrefix(registry.URL, "http://") + "/absent:1", allowed: []string{"**"}, pull: docker.PullMissing},
		"the registry cannot be reached":  {image: strings.TrimPrefix(gone.URL, "http://") + "/absent:1", allowed: []string{"**"}, pull: docker.PullMissing, healing: true},
		"always pulled, and not there":    {image: strings.TrimPrefix(registry.URL, "http://") + "/absent:1", allowed: []string{"**"}, pull: docker.PullAlways},
		"our own image by another's name": {image: "weir-workspace:latest", allowed: []string{"weir.test/**"}, named: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProvider(t, host, "refused", func(c *docker.Config) {
				c.Images = test.allowed
				if test.pull != "" {
					c.Pull = test.pull
				}
			})
			if err := p.Image(test.image); errors.Is(err, provider.ErrImage) != test.named {
				t.Errorf("of its name it said %v", err)
			}
			id := newID()
			t.Cleanup(func() { clear(t, p, id) })
			if err := p.Provision(t.Context(), id, 0); err != nil {
				t.Fatal(err)
			}
			err := p.Start(t.Context(), provider.Spec{ID: id, Image: test.image, Mounts: 1})
			if err == nil || errors.Is(err, provider.ErrImage) == test.healing {
				t.Errorf("it said %v", err)
			}
		})
	}
}

// The binary has to run where there is nothing else, and says so before anybody needs it.
func TestAProgramThatCannotRunInAContainer(t *testing.T) {
	t.Parallel()
	host := dockertest.Daemon(t)
	script := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(script, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"/bin/sh": "CGO_ENABLED=0", script: "Linux build", filepath.Join(t.TempDir(), "none"): "Linux build"} {
		p := newProvider(t, host, "program", func(c *docker.Config) { c.Program = path })
		wrong := new(problem.Problem)
		if err := p.Check(t.Context()); !errors.As(err, &wrong) || !strings.Contains(wrong.Next, want) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if err := newProvider(t, host, "program").Check(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestConfigurationsThatAreRefused(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*docker.Config){
		"no name":                 func(c *docker.Config) { c.Install = "" },
		"the machine's network":   func(c *docker.Config) { c.Network = "host" },
		"another's network":       func(c *docker.Config) { c.Network = "container:db" },
		"a network namespace":     func(c *docker.Config) { c.Network = "ns:/proc/1/ns/net" },
		"the shared network":      func(c *docker.Config) { c.Network = "default" },
		"a policy that is none":   func(c *docker.Config) { c.Pull = "sometimes" },
		"an address that is none": func(c *docker.Config) { c.Host = "nowhere" },
		"no memory":               func(c *docker.Config) { c.Memory = 1 },
		"less than no processors": func(c *docker.Config) { c.CPU = -1 },
	} {
		config := docker.Config{Install: "x"}
		change(&config)
		if _, err := docker.New(config); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}
