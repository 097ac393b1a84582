package docker_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/dockertest"
	"github.com/weirhq/weir/internal/workspace/provider"
	"github.com/weirhq/weir/internal/workspace/provider/docker"
	"github.com/weirhq/weir/internal/workspace/provider/providertest"
)

// newRegistry has one image: the program of workspaces. It gives the image's name.
func newRegistry(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(providertest.Program(t))
	var files, packed bytes.Buffer
	w, z := tar.NewWriter(&files), gzip.NewWriter(&packed)
	err = errors.Join(err, w.WriteHeader(&tar.Header{Name: "program", Typeflag: tar.TypeReg, Mode: 0o755, Size: int64(len(text))}))
	_, wrote := w.Write(text)
	err = errors.Join(err, wrote, w.Close())
	_, wrote = z.Write(files.Bytes())
	if err = errors.Join(err, wrote, z.Close()); err != nil {
		t.Fatal(err)
	}
	blobs := map[string][]byte{}
	keep := func(kind string, blob []byte) map[string]any {
		sum := fmt.Sprintf("sha256:%x", sha256.Sum256(blob))
		blobs[sum] = blob
		return map[string]any{"mediaType": kind, "size": len(blob), "digest": sum}
	}
	marshal := func(v any) []byte {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	const manifestKind = "application/vnd.docker.distribution.manifest.v2+json"
	config := marshal(map[string]any{
		"architecture": runtime.GOARCH, "os": "linux",
		"config": map[string]any{"Entrypoint": []string{"/program", "serve", "--home", "/home/workspace", "--listen", "127.0.0.1:8080"}},
		"rootfs": map[string]any{"type": "layers", "diff_ids": []string{fmt.Sprintf("sha256:%x", sha256.Sum256(files.Bytes()))}},
	})
	manifest := marshal(map[string]any{
		"schemaVersion": 2, "mediaType": manifestKind,
		"config": keep("application/vnd.docker.container.image.v1+json", config),
		"layers": []any{keep("application/vnd.docker.image.rootfs.diff.tar.gzip", packed.Bytes())},
	})
	registry := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch _, last, _ := strings.Cut(r.URL.Path, "/v2/dev/"); {
		case strings.HasPrefix(last, "manifests/"):
			w.Header().Set("Content-Type", manifestKind)
			w.Header().Set("Docker-Content-Digest", fmt.Sprintf("sha256:%x", sha256.Sum256(manifest)))
			_, _ = w.Write(manifest)
		case strings.HasPrefix(last, "blobs/"):
			_, _ = w.Write(blobs[strings.TrimPrefix(last, "blobs/")])
		}
	}))
	t.Cleanup(registry.Close)
	return strings.TrimPrefix(registry.URL, "http://") + "/dev:1"
}

// An image that has to come first tells how far it is: time must not run out for a large
// one on its way.
func TestAnImageThatIsPulledTellsSo(t *testing.T) {
	t.Parallel()
	host := dockertest.Daemon(t)
	p := newProvider(t, host, "pull", func(c *docker.Config) { c.Images, c.Pull = []string{"**"}, docker.PullMissing })
	id, image := newID(), newRegistry(t)
	t.Cleanup(func() { clear(t, p, id) })
	if err := p.Provision(t.Context(), id, 0); err != nil {
		t.Fatal(err)
	}
	var told []string
	if err := p.Start(t.Context(), provider.Spec{ID: id, Image: image, Mounts: 1, Tell: func(says string) { told = append(told, says) }}); err != nil {
		t.Fatal(err)
	}
	answers(t, p, id)
	if len(told) == 0 || !strings.HasPrefix(told[0], "pulls "+image+": downloading") {
		t.Errorf("it told %q", told)
	}
}
