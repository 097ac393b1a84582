package providertest

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"testing"

	"github.com/moby/moby/client"

	"github.com/weirhq/weir/internal/testwait"
)

// Image makes an image as somebody else would have built it: the program of workspaces as
// /program, and a home at /srv with a file in it, both of the user 4711. Changes are lines
// of a Dockerfile.
func Image(t testing.TB, host, name string, changes ...string) {
	t.Helper()
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(Program(t))
	ok(err)
	var files bytes.Buffer
	w := tar.NewWriter(&files)
	ok(w.WriteHeader(&tar.Header{Name: "srv/", Typeflag: tar.TypeDir, Mode: 0o755, Uid: 4711, Gid: 4711}))
	ok(w.WriteHeader(&tar.Header{Name: "srv/welcome", Typeflag: tar.TypeReg, Mode: 0o644, Size: 5, Uid: 4711, Gid: 4711}))
	_, err = io.WriteString(w, "hello")
	ok(err)
	ok(w.WriteHeader(&tar.Header{Name: "program", Typeflag: tar.TypeReg, Mode: 0o755, Size: int64(len(text))}))
	_, err = w.Write(text)
	ok(errors.Join(err, w.Close()))
	engine, err := client.New(client.WithHost(host))
	ok(err)
	defer engine.Close()
	ctx, cancel := context.WithTimeout(t.Context(), testwait.Limit)
	defer cancel()
	answer, err := engine.ImageImport(ctx, client.ImageImportSource{Source: &files, SourceName: "-"}, name, client.ImageImportOptions{Changes: changes})
	ok(err)
	_, err = io.Copy(io.Discard, answer)
	ok(errors.Join(err, answer.Close()))
}
