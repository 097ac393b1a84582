package dockertest_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/weirhq/weir/internal/dockertest"
)

func TestMain(m *testing.M) { dockertest.Main(m) }

func TestEngineRunsTheProbe(t *testing.T) {
	host := dockertest.Daemon(t)
	image := dockertest.Image(t, host)
	if again := dockertest.Daemon(t); again != host {
		t.Errorf("a second engine: %s beside %s", again, host)
	}
	if code := run(t, host, image, "exit", "7"); code != 7 {
		t.Errorf("exit code %d, want 7", code)
	}
}

// A container that a test forgets must not outlive the engine.
func TestStopLeavesNothing(t *testing.T) {
	var dir string
	t.Run("engine with a container that runs", func(t *testing.T) {
		e := dockertest.Start(t)
		dir = filepath.Dir(strings.TrimPrefix(e.Host, "unix://"))
		start(t, e.Host, dockertest.Image(t, e.Host), "stubborn")
		e.Kill(t)
	})
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the folder is still there: %v", err)
	}
	lists, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range lists {
		if line, err := os.ReadFile(path); err == nil && strings.Contains(string(line), dir) {
			t.Errorf("a process is left: %q", line)
		}
	}
}

func run(t *testing.T, host, image string, args ...string) int64 {
	t.Helper()
	cli, id := start(t, host, image, args...)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	wait := cli.ContainerWait(ctx, id, client.ContainerWaitOptions{Condition: container.WaitConditionNotRunning})
	select {
	case err := <-wait.Error:
		t.Fatal(err)
		return 0
	case answer := <-wait.Result:
		return answer.StatusCode
	}
}

func start(t *testing.T, host, image string, args ...string) (*client.Client, string) {
	t.Helper()
	cli, err := client.New(client.WithHost(host))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cli.Close() })
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	made, err := cli.ContainerCreate(ctx, client.ContainerCreateOptions{
		Config:     &container.Config{Image: image, Cmd: args},
		HostConfig: &container.HostConfig{NetworkMode: "none"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cli.ContainerStart(ctx, made.ID, client.ContainerStartOptions{}); err != nil {
		t.Fatal(err)
	}
	return cli, made.ID
}
