package dockertest

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/moby/moby/client"
)

// imageName exists only here: no registry has it.
const imageName = "weir.test/probe:1"

// imported contains the engines that already have the image.
var imported struct {
	sync.Mutex
	hosts map[string]bool
}

// Image imports the probe (see testdata/probe) as an image into the engine at host, and
// returns the image's name. The entry point is the probe.
func Image(t testing.TB, host string) string {
	t.Helper()
	imported.Lock()
	defer imported.Unlock()
	if imported.hosts[host] {
		return imageName
	}
	binary, err := probe()
	if err != nil {
		t.Fatal(err)
	}
	if err := importImage(host, binary); err != nil {
		t.Fatalf("import the probe as an image: %v", err)
	}
	if imported.hosts == nil {
		imported.hosts = map[string]bool{}
	}
	imported.hosts[host] = true
	return imageName
}

// Probe builds the program of the image, for tests that need it beside the container, and
// returns its path.
func Probe(t testing.TB) string {
	t.Helper()
	binary, err := probe()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "probe")
	if err := os.WriteFile(path, binary, 0o700); err != nil { // #nosec G306 -- a program is executable
		t.Fatal(err)
	}
	return path
}

// probe returns the static binary, built once per process.
var probe = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "weir-probe-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "probe")
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", path, // #nosec G204 -- our own program
		"github.com/weirhq/weir/internal/dockertest/testdata/probe")
	// A container has no C library, whatever the test was built with.
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOFLAGS=-buildvcs=false")
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build the probe: %w\n%s", err, out)
	}
	return os.ReadFile(path) // #nosec G304 -- written just now
})

func importImage(host string, binary []byte) error {
	cli, err := client.New(client.WithHost(host))
	if err != nil {
		return err
	}
	defer cli.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	files, err := archive(binary)
	if err != nil {
		return err
	}
	answer, err := cli.ImageImport(ctx, client.ImageImportSource{Source: files, SourceName: "-"}, imageName, client.ImageImportOptions{
		Changes: []string{`ENTRYPOINT ["/probe"]`, `ENV PATH=/`},
	})
	if err != nil {
		return err
	}
	defer answer.Close()
	if _, err := io.Copy(io.Discard, answer); err != nil {
		return err
	}
	_, err = cli.ImageInspect(ctx, imageName)
	return err
}

// archive returns the root of the image: the probe and a folder for temporary files.
func archive(binary []byte) (io.Reader, error) {
	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	if err := w.WriteHeader(&tar.Header{Name: "tmp/", Typeflag: tar.TypeDir, Mode: 0o1777}); err != nil {
		return nil, err
	}
	if err := w.WriteHeader(&tar.Header{Name: "probe", Typeflag: tar.TypeReg, Mode: 0o755, Size: int64(len(binary))}); err != nil {
		return nil, err
	}
	if _, err := w.Write(binary); err != nil {
		return nil, err
	}
	return &buf, w.Close()
}
