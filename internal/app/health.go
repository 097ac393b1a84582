package app

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/weirhq/weir/internal/coordinator"
	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/pg"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/schema"
)

const (
	// readyFor is how long an answer of the readiness check holds, so that many
	// probes cost the database no more than one.
	readyFor = time.Second
	// readyWithin is how long the check may take.
	readyWithin = 5 * time.Second
	// lateBy is how long a loop may be overdue before it counts as stuck.
	lateBy = 30 * time.Second
)

// Check is one line of the readiness report.
type Check struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
}

// Readiness is the answer of /readyz. It is ready when every check is.
type Readiness struct {
	Ready   bool    `json:"ready"`
	Version string  `json:"version"`
	Checks  []Check `json:"checks"`
}

// health answers /healthz and /readyz.
type health struct {
	server *Server

	mu   sync.Mutex
	last Readiness
	at   time.Time
}

func (h *health) routes(mux *http.ServeMux) {
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, map[string]bool{"alive": true})
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		ready := h.ready(r.Context())
		status := http.StatusOK
		if !ready.Ready {
			status = http.StatusServiceUnavailable
		}
		answer(w, status, ready)
	})
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	_ = encoder.Encode(v) // the client is gone
}

// ready checks, or repeats the last answer while it is fresh.
func (h *health) ready(ctx context.Context) Readiness {
	h.mu.Lock()
	defer h.mu.Unlock()
	if time.Since(h.at) < readyFor {
		return h.last
	}
	// Not the probe's own context: one that gives up must not spoil the answer
	// for the next.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readyWithin)
	defer cancel()
	h.last = h.server.readiness(ctx)
	h.at = time.Now()
	return h.last
}

// readiness looks at everything that must work for a task to be done.
func (s *Server) readiness(ctx context.Context) Readiness {
	r := Readiness{Ready: true, Version: s.options.Version}
	parts := s.parts.Load()
	switch {
	case s.stopping.Load():
		r.Checks = []Check{{"server", false, "stopping"}}
	case parts == nil:
		r.Checks = []Check{{"server", false, "starting"}}
	default:
		database := checkDatabase(ctx, parts)
		r.Checks = append(r.Checks, database)
		if database.OK {
			r.Checks = append(r.Checks, checkSchema(ctx, parts.url))
		}
		r.Checks = append(r.Checks, checkLoops(ctx, parts, time.Now()))
	}
	for _, c := range r.Checks {
		r.Ready = r.Ready && c.OK
	}
	return r
}

func checkDatabase(ctx context.Context, p *parts) Check {
	start := time.Now()
	if err := p.pool.Ping(ctx); err != nil {
		return Check{"database", false, problem.Explain(err).What}
	}
	return Check{"database", true, "answers in " + took(time.Since(start))}
}

func checkSchema(ctx context.Context, url string) Check {
	status, err := pg.MigrationStatus(ctx, url, schema.FS)
	switch {
	case err != nil:
		return Check{"schema", false, problem.Explain(err).What}
	case status.Err() != nil:
		return Check{"schema", false, status.Err().Error()}
	case !status.Current():
		return Check{"schema", false, fmt.Sprintf("version %d, this binary wants %d: run weir migrate", status.Version, status.Target)}
	}
	return Check{"schema", true, fmt.Sprintf("version %d", status.Version)}
}

// checkLoops wants every loop of a leader to have ticked in time and well. A
// server that does not lead is ready too if another does: it takes over when it
// must.
func checkLoops(ctx context.Context, p *parts, now time.Time) Check {
	status := p.coordinator.Status()
	if status.Epoch == 0 {
		return checkStandby(ctx, p)
	}
	for _, l := range status.Loops {
		if text := troubled(l, now); text != "" {
			return Check{"loops", false, "loop " + l.Name + " " + text}
		}
	}
	return Check{"loops", true, fmt.Sprintf("leads with epoch %d; %s", status.Epoch, count(len(status.Loops), "loop ticks", "loops tick"))}
}

func checkStandby(ctx context.Context, p *parts) Check {
	var led bool
	err := p.pool.QueryRow(ctx, `select exists (select from weir.system_locks l where l.lock_name = $1 and l.expires_at > clock_timestamp())`, coordinator.Lock).Scan(&led)
	switch {
	case err != nil:
		return Check{"loops", false, problem.Explain(err).What}
	case !led:
		return Check{"loops", false, "nobody leads at the moment"}
	}
	return Check{"loops", true, "another server leads; this one stands by"}
}

// troubled says what is wrong with a loop, or "".
func troubled(l loop.Stats, now time.Time) string {
	late := 2*l.Every + lateBy
	switch {
	case l.Failing > 1:
		return fmt.Sprintf("failed %d times in a row: %s", l.Failing, l.Error)
	case !l.Running.IsZero() && now.Sub(l.Running) > late:
		return "is in a tick since " + took(now.Sub(l.Running))
	case l.Running.IsZero() && !l.Last.IsZero() && now.Sub(l.Last) > late:
		return "has not ticked since " + took(now.Sub(l.Last))
	}
	return ""
}
