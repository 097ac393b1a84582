package docker_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/weirhq/weir/internal/agent/driver"
	"github.com/weirhq/weir/internal/agent/driver/docker"
	"github.com/weirhq/weir/internal/dockertest"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/testwait"
)

func TestMain(m *testing.M) {
	docker.WardenMain()
	dockertest.Main(m)
}

// generous is a timeout that only a hanging test reaches.
const generous = time.Minute

// bench is an engine, an image and a driver with its own agent name.
type bench struct {
	t      *testing.T
	host   string
	image  string
	config docker.Config
	driver *docker.Driver
	engine *client.Client
}

func newBench(t *testing.T, host string, change ...func(*docker.Config)) *bench {
	t.Helper()
	b := &bench{t: t, host: host, image: dockertest.Image(t, host)}
	b.config = docker.Config{Host: host, Agent: "agent-of-" + t.Name(), Pull: docker.PullNever}
	for _, set := range change {
		set(&b.config)
	}
	var err error
	if b.engine, err = client.New(client.WithHost(host)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.engine.Close() })
	b.driver = b.newDriver()
	return b
}

func (b *bench) newDriver() *docker.Driver {
	b.t.Helper()
	d, err := docker.New(b.config)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() {
		if err := d.Close(); err != nil {
			b.t.Error(err)
		}
	})
	return d
}

// work returns an attempt with a folder like the agent's.
func (b *bench) work(argv ...string) driver.Work {
	b.t.Helper()
	base := b.t.TempDir()
	w := driver.Work{
		Task: id(), Job: id(), Key: "step", Service: "probe",
		Fence: id(), Node: "node-1", Attempt: 1,
		Params: json.RawMessage(`{"x":1}`),
		Run:    node.Run{Driver: "docker", Image: b.image, Argv: argv},
		Env:    map[string]string{"COLOUR": "green"},
		Dir:    filepath.Join(base, "work"), State: filepath.Join(base, "state"),
	}
	for _, dir := range []string{w.Dir, w.State, filepath.Join(w.Dir, "out"), filepath.Join(w.Dir, "in"), filepath.Join(w.Dir, "secrets")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			b.t.Fatal(err)
		}
	}
	b.write(w, "params.json", string(w.Params), 0o600)
	return w
}

func (b *bench) write(w driver.Work, name, text string, mode os.FileMode) {
	b.t.Helper()
	if err := os.WriteFile(filepath.Join(w.Dir, name), []byte(text), mode); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) start(w driver.Work) (driver.Running, *output) {
	b.t.Helper()
	out := &output{}
	ctx, cancel := context.WithTimeout(context.Background(), generous)
	defer cancel()
	r, err := b.driver.Start(ctx, w, out)
	if err != nil {
		b.t.Fatalf("start: %v", err)
	}
	return r, out
}

func (b *bench) wait(r driver.Running) driver.Exit {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), generous)
	defer cancel()
	exit, err := r.Wait(ctx)
	if err != nil {
		b.t.Fatalf("wait: %v", err)
	}
	return exit
}

// run starts the work and waits for its end.
func (b *bench) run(w driver.Work) (driver.Exit, *output) {
	b.t.Helper()
	r, out := b.start(w)
	return b.wait(r), out
}

// containers returns the containers of this bench's agent, in any state.
func (b *bench) containers() []container.Summary {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), generous)
	defer cancel()
	list, err := b.engine.ContainerList(ctx, client.ContainerListOptions{
		All: true, Filters: client.Filters{}.Add("label", "weir.agent="+b.config.Agent),
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return list.Items
}

// nextLife removes what an agent finds of its previous process.
func (b *bench) nextLife() {
	b.t.Helper()
	all, err := b.driver.Adopt(context.Background())
	for _, found := range all {
		err = errors.Join(err, found.Kill(context.Background()))
	}
	if err != nil {
		b.t.Error(err)
	}
}

func (b *bench) wantNone() {
	b.t.Helper()
	if left := b.containers(); len(left) > 0 {
		b.t.Errorf("%d containers are left: %v %s", len(left), left[0].Names, left[0].Status)
	}
}

// id returns an id like those of the database.
func id() string { return strings.ToLower(rand.Text()) }

// output keeps what the work prints.
type output struct {
	mu             sync.Mutex
	stdout, stderr bytes.Buffer
	tookOut        int64
	tookErr        int64
}

type stream struct {
	o  *output
	to *bytes.Buffer
}

func (s stream) Write(p []byte) (int, error) {
	s.o.mu.Lock()
	defer s.o.mu.Unlock()
	return s.to.Write(p)
}

func (o *output) Stdout() io.Writer     { return stream{o, &o.stdout} }
func (o *output) Stderr() io.Writer     { return stream{o, &o.stderr} }
func (o *output) Taken() (int64, int64) { return o.tookOut, o.tookErr }
func (o *output) Alive()                {}

func (o *output) out() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.stdout.String()
}

func (o *output) err() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.stderr.String()
}

// waitFor waits until the work has printed the text.
func (o *output) waitFor(t *testing.T, text string) {
	t.Helper()
	testwait.Until(t, "it prints "+text, func() bool { return strings.Contains(o.out(), text) })
}
