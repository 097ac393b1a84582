package program_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/testwait"
	"github.com/weirhq/weir/internal/workspace/home"
	"github.com/weirhq/weir/internal/workspace/inside/program"
)

// told is the last line of the errors.
func told(t *testing.T, text string) (last program.Told) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil {
		t.Fatalf("%v: %q", err, text)
	}
	return last
}

func TestPackAndUnpack(t *testing.T) {
	from, to := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(from, "notes"), []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	var archive, errs bytes.Buffer
	if err := program.Run(t.Context(), []string{"pack", from}, program.Streams{Out: &archive, Err: &errs}); err != nil {
		t.Fatal(err)
	}
	packed := told(t, errs.String())
	if packed.Meta == nil || packed.Meta.Entries != 2 || packed.Meta.Size != int64(archive.Len()) || packed.Meta.SHA256 == "" || packed.Meta.Format != home.Format {
		t.Errorf("it says %+v of %d bytes", packed, archive.Len())
	}
	errs.Reset()
	if err := program.Run(t.Context(), []string{"unpack", to}, program.Streams{In: bytes.NewReader(archive.Bytes()), Err: &errs}); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(to, "notes")); err != nil || string(text) != "kept" {
		t.Errorf("%q, %v", text, err)
	}
	for name, test := range map[string]struct {
		args    []string
		in      io.Reader
		refused bool
	}{
		"a cut archive":      {[]string{"unpack", t.TempDir()}, bytes.NewReader(archive.Bytes()[:archive.Len()/2]), true},
		"a bound":            {[]string{"unpack", "--entries", "1", t.TempDir()}, bytes.NewReader(archive.Bytes()), true},
		"not empty":          {[]string{"unpack", to}, bytes.NewReader(archive.Bytes()), false},
		"no folder":          {[]string{"unpack"}, nil, false},
		"a source that ends": {[]string{"unpack", t.TempDir()}, io.MultiReader(bytes.NewReader(archive.Bytes()[:10]), broken{}), false},
	} {
		errs.Reset()
		err := program.Run(t.Context(), test.args, program.Streams{In: test.in, Err: &errs})
		if last := told(t, errs.String()); err == nil || last.Error == "" || last.Refused != test.refused {
			t.Errorf("%s: %v, %+v", name, err, last)
		}
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("the pipe broke") }

func TestInstall(t *testing.T) {
	dir := t.TempDir()
	for range 2 {
		if err := program.Run(t.Context(), []string{"install", dir}, program.Streams{}); err != nil {
			t.Fatal(err)
		}
	}
	all, err := os.ReadDir(dir)
	if err != nil || len(all) != 1 || all[0].Name() != program.Name {
		t.Fatalf("%v, %v", all, err)
	}
	info, err := all[0].Info()
	self, _ := os.Executable()
	own, failed := os.Stat(self)
	if err := errors.Join(err, failed); err != nil || info.Size() != own.Size() || info.Mode().Perm() != 0o555 {
		t.Errorf("%v, %v", info, err)
	}
}

// It serves until it is asked to end, and ends then.
func TestServe(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	read, write := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- program.Run(ctx, []string{"serve", "--home", t.TempDir(), "--listen", "127.0.0.1:0"}, program.Streams{Out: write})
		_ = write.Close() // never fails
	}()
	line := make([]byte, 200)
	n, err := read.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(io.Discard, read) }()
	_, address, _ := strings.Cut(strings.TrimSpace(string(line[:n])), " served at ")
	answer, err := http.Get("http://" + address + "/healthz")
	if err != nil {
		t.Fatal(err)
	}
	if err := answer.Body.Close(); err != nil || answer.StatusCode != http.StatusOK {
		t.Errorf("%s, %v", answer.Status, err)
	}
	stop()
	ended := false
	testwait.Until(t, "its end", func() bool {
		select {
		case err := <-done:
			ended = true
			if err != nil {
				t.Error(err)
			}
		default:
		}
		return ended
	})
}

func TestWhatIsNot(t *testing.T) {
	for _, args := range [][]string{nil, {"fly"}, {"relay"}, {"relay", "70000"}, {"install"}, {"serve", "--what"}, {"serve", "--lock", "x", "--id", "none"}} {
		if err := program.Run(t.Context(), args, program.Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard}); err == nil {
			t.Errorf("%q is done", args)
		}
	}
}
