package webtest

import (
	"context"
	"log/slog"
	"sync"
	"testing"

	"github.com/weirhq/weir/internal/blob"
	"github.com/weirhq/weir/internal/coordinator"
	"github.com/weirhq/weir/internal/engine"
	"github.com/weirhq/weir/internal/fleet"
	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/node/wake"
	"github.com/weirhq/weir/internal/rollout"
	"github.com/weirhq/weir/internal/vault"
	"github.com/weirhq/weir/internal/workflow"
	"github.com/weirhq/weir/internal/workflow/definition"
	"github.com/weirhq/weir/internal/workspace"
)

// stores opens what a server knows beside the engine.
func (s *Server) stores(t testing.TB, log *slog.Logger) {
	t.Helper()
	s.Vault = vault.New(s.DB.Pool, vault.RandomKeys(), log)
	s.Flows = workflow.New(s.DB.Pool, workflow.Options{Log: log, Vault: s.Vault})
	s.Rollouts = rollout.New(s.DB.Pool, rollout.Options{Vault: s.Vault, Log: log})
	s.Fleets = fleet.New(s.DB.Pool)
	s.Workspaces = yard(t, workspace.New(s.DB.Pool), s.Auth)
	s.Waker = wake.New(s.DB.Pool, wake.Config{Log: log})
	var err error
	if s.Bucket, err = blob.Open(t.Context(), "folder://"+t.TempDir()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := blob.Close(s.Bucket); err != nil {
			t.Errorf("close the bucket: %v", err)
		}
	})
}

// Lead does what the leader of a server does, until the test ends: time passes,
// queued jobs are built and steps planned.
func (s *Server) Lead(t testing.TB) {
	t.Helper()
	c := coordinator.New(coordinator.Config{Pool: s.DB.Pool, Loops: func(term *coordinator.Term) []loop.Loop {
		loops := append(engine.Loops(engine.Config{Pool: s.DB.Pool}, term), workflow.Loops(workflow.Config{Pool: s.DB.Pool, Store: s.Flows}, term)...)
		return append(loops, rollout.Loops(rollout.Config{Pool: s.DB.Pool, Store: s.Rollouts}, term)...)
	}})
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	var running sync.WaitGroup
	running.Go(func() { c.Run(ctx) })
	t.Cleanup(func() {
		stop()
		running.Wait()
	})
}

// Put stores a workflow written in YAML.
func (s *Server) Put(t testing.TB, text string) workflow.Workflow {
	t.Helper()
	d, faults := definition.Parse("test.yaml", []byte(text))
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	w, _, err := s.Flows.Put(t.Context(), "test", d, text, workflow.PutOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return w
}
