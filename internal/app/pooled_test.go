//go:build unix

package app

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/patience"
	"github.com/weirhq/weir/internal/testdb"
)

// A server, commands and an agent work through PgBouncer in transaction mode with
// nothing but the URL, from the first migration on, and the doctor says what that
// costs. So do settings of the pool.
func TestAllThroughPgBouncer(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	db := testdb.NewEmpty(t)
	through := testdb.Bounce(t, db.URL, "pool_mode = transaction", "default_pool_size = 8", "max_client_conn = 200") + "&pool_max_conns=6&pool_max_conn_lifetime=1h"
	startProcess(t, through)
	if _, err := Migrate(ctx, Config{}.Defaults(), through); err != nil {
		t.Fatal(err)
	}
	target := Target{Database: through}
	s, err := Connect(ctx, target, Who{Name: "ann"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	agent, err := NewAgent(ctx, Config{}.Defaults(), target, AgentConfig{Node: "pc1", Slots: map[string]int{"exec": 2}, Dir: t.TempDir()}, "test", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	life, end := context.WithCancel(ctx)
	go func() { ended <- agent.Run(life, ctx) }()
	defer func() {
		end()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	for range 3 {
		job, err := s.Client.SubmitJob(ctx, weir.Job{Name: "j", Tasks: []weir.Task{
			{Key: "a", Service: "exec", Run: json.RawMessage(`{"driver": "exec", "argv": ["true"]}`)},
			{Key: "b", Service: "exec", Needs: []string{"a"}, Run: json.RawMessage(`{"driver": "exec", "argv": ["true"]}`)},
		}})
		if err != nil {
			t.Fatal(err)
		}
		patience.Until(t, "the agent does it", func() bool {
			var done int
			if err := db.Pool.QueryRow(ctx, `select done from weir.job where id = $1`, job).Scan(&done); err != nil {
				t.Fatal(err)
			}
			return done == 2
		})
	}
	findings, err := s.Store.Doctor(ctx, true)
	if err != nil {
		t.Fatal(err)
	}
	warned := false
	for _, f := range findings {
		switch {
		case f.Name == "hints are heard":
			warned = !f.OK && f.Level == "health" && strings.Contains(f.Detail, "polled")
		case !f.OK && f.Level != "health":
			t.Errorf("%s: %s", f.Name, f.Detail)
		}
	}
	if !warned {
		t.Error("the doctor does not say that hints are polled")
	}
}
