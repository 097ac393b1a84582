package remote

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/blob/blobtest"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/problem"
)

func TestJoin(t *testing.T) {
	t.Parallel()
	r := newRig(t, blobtest.Folder(t))
	ctx := t.Context()
	file := filepath.Join(t.TempDir(), "deep", "credential")
	says := func(err error, kind problem.Kind, words ...string) {
		t.Helper()
		if err == nil {
			t.Fatal("no error")
		}
		p := problem.Explain(err)
		for _, w := range words {
			if !strings.Contains(p.What+" "+p.Next, w) {
				t.Errorf("%q, %q does not speak of %q", p.What, p.Next, w)
			}
		}
		if p.Kind != kind {
			t.Errorf("%q is %s", p.What, p.Kind.Code())
		}
	}
	_, err := Open(ctx, r.config("n1"), file, "")
	says(err, problem.Unauthenticated, "not joined", "weir join create --node n1", "--join")
	_, err = Open(ctx, r.config("n1"), file, "weir_join_wrong")
	says(err, problem.Unauthenticated, "weir join create")
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(file), "*")); err != nil || len(left) > 0 {
		t.Errorf("a join that failed left %v", left)
	}
	token := r.token("n1")
	n1, err := Open(ctx, r.config("n1"), file, token)
	if err != nil {
		t.Fatal(err)
	}
	defer n1.Close()
	is, err := os.Stat(file)
	if err != nil || is.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v: %v", is, err)
	}
	kept, err := ReadCredential(file)
	if err != nil || kept.Node != "n1" || kept.Server != r.server.URL || kept.Credential == "" || kept.Credential == token {
		t.Errorf("kept %+v: %v", kept, err)
	}
	if err := n1.Register(ctx, node.Info{Name: "n1", Capacity: map[string]int{"x": 1}}); err != nil {
		t.Error(err)
	}
	says(n1.Register(ctx, node.Info{Name: "n2"}), problem.Invalid, "n1")
	// The same command starts the agent again, although the token is used up.
	again, err := Open(ctx, r.config("n1"), file, token)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := again.Heartbeat(ctx); err != nil && !strings.Contains(err.Error(), "worker") {
		t.Error(err)
	}
	again.Close()
	// A revoked credential is reported as such, and a new token fixes it.
	if err := r.auth.RevokeNode(ctx, system, "n1"); err != nil {
		t.Fatal(err)
	}
	says(n1.Register(ctx, node.Info{Name: "n1", Capacity: map[string]int{"x": 1}}), problem.Unauthenticated, "taken away", "weir join create")
	n1b, err := Open(ctx, r.config("n1"), file, r.token("n1"))
	if err != nil {
		t.Fatal(err)
	}
	defer n1b.Close()
	if err := n1b.Register(ctx, node.Info{Name: "n1", Capacity: map[string]int{"x": 1}}); err != nil {
		t.Error(err)
	}
	_, err = Open(ctx, r.config("n2"), file, "")
	says(err, problem.Invalid, `"n1"`)
	if err := os.Chmod(file, 0o644); err != nil { // #nosec G302 -- that is the fault
		t.Fatal(err)
	}
	_, err = Open(ctx, r.config("n1"), file, "")
	says(err, problem.Invalid, "chmod 600")
	if err := os.WriteFile(file, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(file, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = Open(ctx, r.config("n1"), file, "")
	says(err, problem.Invalid, "holds no credential")
}

// A token is not spent if its credential could not be stored.
func TestJoinNowhereToKeep(t *testing.T) {
	t.Parallel()
	r := newRig(t, blobtest.Folder(t))
	plain := filepath.Join(t.TempDir(), "plain")
	if err := os.WriteFile(plain, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	token := r.token("n1")
	if _, err := Open(t.Context(), r.config("n1"), filepath.Join(plain, "credential"), token); err == nil {
		t.Fatal("it was kept in a file that is no folder")
	}
	n1, err := Open(t.Context(), r.config("n1"), filepath.Join(t.TempDir(), "credential"), token)
	if err != nil {
		t.Fatal(err)
	}
	n1.Close()
}

// A machine that has joined does not join again because the server is away.
func TestOpenWhileAway(t *testing.T) {
	t.Parallel()
	r := newRig(t, blobtest.Folder(t))
	file := filepath.Join(t.TempDir(), "credential")
	n1, err := Open(t.Context(), r.config("n1"), file, r.token("n1"))
	if err != nil {
		t.Fatal(err)
	}
	n1.Close()
	c := r.config("n1")
	c.Server = "https://" + closed(t)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	away, err := Open(ctx, c, file, "weir_join_used")
	if err != nil {
		t.Fatal(err)
	}
	away.Close()
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		t.Error("the credential is gone")
	}
}
