package workflows_test

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/moby/moby/client"

	"github.com/weirhq/weir/internal/dockertest"
)

// TestContainers runs the examples that need a Docker engine.
func TestContainers(t *testing.T) {
	t.Parallel()
	host := dockertest.Daemon(t)
	importImage(t, host, build(t, "./wordcount"))
	w := newWorld(t)
	port, folder := freePort(t), t.TempDir()
	text, err := os.ReadFile("compose/compose.yaml")
	if err != nil {
		t.Fatal(err)
	}
	// Tests have no port of their own.
	text = bytes.ReplaceAll(text, []byte("127.0.0.1:8093"), []byte(local(port)))
	if err := os.WriteFile(filepath.Join(folder, "compose.yaml"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	w.agent("dock", "--docker-host", host, "--docker-image", imageName, "--compose-dir", folder)

	_, code := w.try("run", "./docker.yaml", "--watch")
	job := w.check("docker", code, expected{tasks: `count done {"words": 11}`, artifacts: "count/words.txt"})
	w.logged(job, "count", `attempt 1 counts "a weir holds`)
	uploadCheck(t, w)

	if !composed(t) {
		return
	}
	_, code = w.try("run", "./compose.yaml", "--watch", param("port", port))
	w.check("compose", code, expected{tasks: `
count done {"items": [{"words": 2}, {"words": 3}], "failed": 0}
count[0] done {"words": 2}
count[1] done {"words": 3}`})
	if left := containers(t, host, "weir.node", "dock"); left > 0 {
		t.Errorf("%d containers of steps are left", left)
	}
	if up := containers(t, host, "com.docker.compose.service", "wordcount"); up != 1 {
		t.Errorf("%d services are up, want one for both items", up)
	}
}

const imageName = "weir-wordcount"

// build builds a program of the examples that needs no C library.
func build(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), filepath.Base(dir))
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", path, dir)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-buildvcs=false")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

// importImage makes the image that the Dockerfile makes, without a registry.
func importImage(t *testing.T, host, binary string) {
	t.Helper()
	program, err := os.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	var files bytes.Buffer
	archive := tar.NewWriter(&files)
	if err := archive.WriteHeader(&tar.Header{Name: imageName, Typeflag: tar.TypeReg, Mode: 0o755, Size: int64(len(program))}); err != nil {
		t.Fatal(err)
	}
	if _, err := archive.Write(program); err != nil {
		t.Fatal(err)
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	answer, err := engine(t, host).ImageImport(t.Context(), client.ImageImportSource{Source: &files, SourceName: "-"}, imageName,
		client.ImageImportOptions{Changes: []string{`ENTRYPOINT ["/` + imageName + `"]`}})
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Close()
	if _, err := io.Copy(io.Discard, answer); err != nil {
		t.Fatal(err)
	}
}

func engine(t *testing.T, host string) *client.Client {
	t.Helper()
	c, err := client.New(client.WithHost(host))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// containers counts those with a label, running or not.
func containers(t *testing.T, host, label, value string) (n int) {
	t.Helper()
	list, err := engine(t, host).ContainerList(t.Context(), client.ContainerListOptions{All: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range list.Items {
		if c.Labels[label] == value {
			n++
		}
	}
	return n
}

// composed says whether this machine has a compose.
func composed(t *testing.T) bool {
	t.Helper()
	if _, err := exec.LookPath("docker-compose"); err == nil || exec.Command("docker", "compose", "version").Run() == nil {
		return true
	}
	if os.Getenv("CI") == "true" {
		t.Fatal("there is no compose on this machine: scripts/setup-test installs it")
	}
	t.Log("SKIPPED the example compose, there is no compose on this machine: scripts/setup-test installs it")
	return false
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", local(0))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

func local(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }
