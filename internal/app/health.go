package app

import (
	"context"
	"encoding/json"
	"errors"
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

// Check is one line of the readiness report. Whoever asks for it need not be
// known, so it says yes or no; why is in the log and on the page Health.
type Check struct {
	Name string `json:"name"`
	OK   bool   `json:"ok"`
	// detail is for people who are logged in, err for the log.
	detail string
	err    error
}

// Readiness is the answer of /readyz: whether this server can serve.
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
	// told are the checks that failed when the log was last told.
	told string
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
	// A stop is told at once: a balancer may ask once more and then no longer.
	if time.Since(h.at) < readyFor && !h.server.draining.Load() {
		return h.last
	}
	// Not the probe's own context: one that gives up must not spoil the answer
	// for the next.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readyWithin)
	defer cancel()
	h.last = Readiness{Ready: true, Version: h.server.options.Version, Checks: h.server.checks(ctx)}
	for _, c := range h.last.Checks {
		h.last.Ready = h.last.Ready && c.OK
	}
	h.at = time.Now()
	h.tell()
	return h.last
}

// tell logs that the answer changed, with the reason.
func (h *health) tell() {
	failed := ""
	for _, c := range h.last.Checks {
		if !c.OK {
			failed += c.Name + ": " + c.detail + "\n"
		}
	}
	was := h.told
	h.told = failed
	switch {
	case failed == was:
	case failed == "":
		h.server.log.Warn("ready again")
	default:
		for _, c := range h.last.Checks {
			if c.err != nil { // that it starts or stops is no fault
				h.server.log.Warn("not ready", "check", c.Name, "error", c.err)
			}
		}
	}
}

// checks look at what this server needs to serve. Nothing of it depends on who
// leads, or on what other servers are.
func (s *Server) checks(ctx context.Context) []Check {
	parts := s.parts.Load()
	switch {
	case s.draining.Load():
		return []Check{{Name: "server", detail: "stopping"}}
	case parts == nil:
		return []Check{{Name: "server", detail: "starting"}}
	}
	database := s.checkDatabase(ctx, parts)
	if !database.OK {
		return []Check{database}
	}
	return []Check{database, checkSchema(ctx, parts)}
}

// failed is a check that is not passed. A person may know what the error means,
// not its words: they may name hosts and users.
func failed(name string, err error) Check {
	p, _ := problem.Public(err)
	return Check{Name: name, detail: p.What, err: err}
}

func (s *Server) checkDatabase(ctx context.Context, p *parts) Check {
	start := time.Now()
	err := s.writes.Check(ctx, p.pool)
	switch {
	case errors.Is(err, pg.ErrReadOnly), errors.Is(err, pg.ErrNoSpace):
		return Check{Name: "database", detail: err.Error(), err: err}
	case err != nil:
		return failed("database", err)
	}
	return Check{Name: "database", OK: true, detail: "answers in " + took(time.Since(start))}
}

func checkSchema(ctx context.Context, p *parts) Check {
	err := pg.Serves(ctx, p.pool, schema.FS)
	switch {
	case errors.Is(err, pg.ErrSchemaNewer), errors.Is(err, pg.ErrSchemaOlder):
		return Check{Name: "schema", detail: err.Error(), err: err}
	case err != nil:
		return failed("schema", err)
	}
	return Check{Name: "schema", OK: true, detail: "this server can work with it"}
}

// checkLoops wants every loop of a leader to have ticked in time and well, and
// somebody to lead. It is for people: a server serves without.
func checkLoops(ctx context.Context, p *parts, now time.Time) Check {
	status := p.coordinator.Status()
	if status.Epoch == 0 {
		return checkStandby(ctx, p)
	}
	for _, l := range status.Loops {
		if text := troubled(l, now); text != "" {
			return Check{Name: "loops", detail: "loop " + l.Name + " " + text}
		}
	}
	return Check{Name: "loops", OK: true, detail: fmt.Sprintf("leads with epoch %d; %s", status.Epoch, count(len(status.Loops), "loop ticks", "loops tick"))}
}

func checkStandby(ctx context.Context, p *parts) Check {
	var led bool
	err := p.pool.QueryRow(ctx, `select exists (select from weir.system_locks l where l.lock_name = $1 and l.expires_at > clock_timestamp())`, coordinator.Lock).Scan(&led)
	switch {
	case err != nil:
		return failed("loops", err)
	case !led:
		return Check{Name: "loops", detail: "nobody leads at the moment"}
	}
	return Check{Name: "loops", OK: true, detail: "another server leads; this one stands by"}
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
