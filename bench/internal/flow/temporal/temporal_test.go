//go:build temporal

package temporal

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/weirhq/weir/bench/internal/flow"
)

// The peer is optional, and building it takes minutes: go test -tags temporal runs this.
func TestShapes(t *testing.T) {
	program, err := Find(t.Context(), Auto, os.Getenv)
	if err != nil {
		t.Fatal(err) // the tag asks explicitly for this test
	}
	e, err := New(t.Context(), program)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := e.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	}()
	for _, shape := range []flow.Shape{flow.Chain, flow.ChainProcess, flow.FanMap, flow.Burst, flow.DueJobs} {
		t.Run(string(shape), func(t *testing.T) {
			const n = 5
			r, err := e.Start(t.Context(), shape, n)
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := r.Stop(t.Context()); err != nil {
					t.Error(err)
				}
			}()
			result, err := r.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%+v", result)
			if shape == flow.DueJobs {
				if len(result.Late) != n {
					t.Errorf("%d schedules ran", len(result.Late))
				}
			} else if result.Done <= 0 || result.Done < result.Submitted {
				t.Errorf("took %+v", result)
			}
		})
	}
}

func TestFind(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	none := func(string) string { return "" }
	for _, mode := range []string{Off, Auto} {
		if _, err := Find(t.Context(), mode, none); !errors.Is(err, ErrNone) {
			t.Errorf("%s: error = %v, want none", mode, err)
		}
	}
	plain := filepath.Join(t.TempDir(), "temporal")
	if err := os.WriteFile(plain, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Find(t.Context(), plain, none); err == nil || errors.Is(err, ErrNone) {
		t.Errorf("a file that is no program: %v", err)
	}
	if err := os.Chmod(plain, 0o700); err != nil {
		t.Fatal(err)
	}
	if got, err := Find(t.Context(), plain, none); err != nil || got != plain {
		t.Errorf("a path: %q, %v", got, err)
	}
	named := func(name string) string { return map[string]string{variable: plain}[name] }
	if got, err := Find(t.Context(), Auto, named); err != nil || got != plain {
		t.Errorf("%s: %q, %v", variable, got, err)
	}
	if _, err := Find(t.Context(), Auto, func(string) string { return plain + ".gone" }); err == nil || errors.Is(err, ErrNone) {
		t.Errorf("%s names nothing: %v", variable, err)
	}
}

func TestLate(t *testing.T) {
	at := time.Unix(100, 0)
	if got := flow.Late([]time.Time{at, at.Add(time.Second)}, at); got[0] != 0 || got[1] != time.Second {
		t.Errorf("late = %v", got)
	}
}
