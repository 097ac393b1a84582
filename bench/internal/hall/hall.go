package hall

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/bench/internal/flow"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/pg"
)

// Size is the size of a hall. Every device of every PC works at once.
type Size struct {
	Agents, Devices int
	// Shortest and Longest bound how long a run takes.
	Shortest, Longest time.Duration
}

// fillWithin is the timeout until every device works. A hundred processes start meanwhile.
const fillWithin = 5 * time.Minute

// Hall is a server with its agents.
type Hall struct {
	Pool   *pgxpool.Pool
	size   Size
	server *flow.Process
	agents []*flow.Process
	job    weir.ID
}

// Open starts a server of the program on an empty database, which the server migrates, and
// its agents. It returns when every device works. Of a job there is work for the given time.
func Open(ctx context.Context, program, databaseURL, folder string, size Size, length time.Duration) (h *Hall, err error) {
	h = &Hall{size: size}
	defer func() {
		if err != nil {
			err = errors.Join(err, h.Close())
		}
	}()
	data := filepath.Join(folder, "server")
	if h.server, err = start(ctx, program, "Weir is up", []string{"WEIR_DATABASE_URL=" + databaseURL}, "up", "--data", data, "--listen", "127.0.0.1:0"); err != nil {
		return h, err
	}
	text, err := os.ReadFile(filepath.Join(data, "server.json")) // #nosec G304 -- ours
	var running struct{ URL string }
	if err == nil {
		err = json.Unmarshal(text, &running)
	}
	if err != nil {
		return h, fmt.Errorf("find the server: %w", err)
	}
	if h.Pool, err = pg.Open(ctx, databaseURL, pg.Options{Name: "bench hall", MaxConns: 2}); err != nil {
		return h, err
	}
	if err := h.hire(ctx, program, running.URL, folder); err != nil {
		return h, err
	}
	return h, h.fill(ctx, length)
}

// hire starts the agents.
func (h *Hall) hire(ctx context.Context, program, server, folder string) error {
	people := auth.New(h.Pool, auth.Options{})
	var all sync.WaitGroup
	errs := make([]error, h.size.Agents)
	h.agents = make([]*flow.Process, h.size.Agents)
	turn := make(chan struct{}, 4) // as many start at once
	for i := range h.agents {
		name := fmt.Sprintf("PC-%03d", i+1)
		token, err := people.CreateJoin(ctx, auth.System("bench"), auth.NewJoin{Node: name, Bound: auth.Bound{Services: map[string]int{node.Fleet: h.size.Devices}}})
		if err != nil {
			return fmt.Errorf("make a join token: %w", err)
		}
		all.Go(func() {
			turn <- struct{}{}
			defer func() { <-turn }()
			h.agents[i], errs[i] = start(ctx, program, "Agent of", nil, "agent", "--server", server, "--join", token, "--pc", name, "--dir", filepath.Join(folder, name),
				"--simulate", fmt.Sprint(h.size.Devices), "--simulate-seed", fmt.Sprint(i+1), "--slots", fmt.Sprint(h.size.Devices), "--simulate-time", fmt.Sprintf("%s-%s", h.size.Shortest, h.size.Longest))
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// start starts the program and waits for the words that it is ready.
func start(ctx context.Context, program, ready string, environment []string, args ...string) (*flow.Process, error) {
	cmd := exec.Command(program, args...) // #nosec G204 -- our own program; Close stops it
	for _, pair := range os.Environ() {
		if !strings.HasPrefix(pair, "WEIR_") {
			cmd.Env = append(cmd.Env, pair)
		}
	}
	cmd.Env = append(append(cmd.Env, "WEIR_LOG_LEVEL=warn"), environment...)
	return flow.StartProcess(ctx, "weir "+args[0], cmd, func(said string) bool { return strings.Contains(said, ready) })
}

// fill submits a job and waits until every device works.
func (h *Hall) fill(ctx context.Context, length time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, fillWithin)
	defer cancel()
	all := h.size.Agents * h.size.Devices
	if err := h.until(ctx, `select count(*) from weir.devices where online and missing_at is null`, all, "devices are known"); err != nil {
		return err
	}
	// The first success on a new device makes it good. The devices of a lab are good from
	// the start.
	if _, err := h.Pool.Exec(ctx, `update weir.devices set health = 'good', check_at = null`); err != nil {
		return err
	}
	rounds := 2 + int((length+fillWithin/2)/h.size.Shortest)
	spec := map[string]any{"run": map[string]any{"argv": []string{"true"}}, "target": map[string]any{"all": true}, "repeat": rounds}
	if err := h.Pool.QueryRow(ctx, `select weir.fleet_submit('bench', $1)`, spec).Scan(&h.job); err != nil {
		return fmt.Errorf("submit the job: %w", err)
	}
	return h.until(ctx, `select count(*) from weir.running where device is not null`, all*9/10, "devices work")
}

// until waits for a count.
func (h *Hall) until(ctx context.Context, sql string, want int, what string) error {
	n := 0
	for {
		if err := h.Pool.QueryRow(ctx, sql).Scan(&n); err != nil {
			return err
		}
		if n >= want {
			return nil
		}
		if !loop.Wait(ctx, 200*time.Millisecond, nil) {
			return fmt.Errorf("%d of %d %s after %s", n, want, what, fillWithin)
		}
	}
}

// Close stops the agents and the server.
func (h *Hall) Close() error {
	var all sync.WaitGroup
	errs := make([]error, len(h.agents)+1)
	for i, p := range h.agents {
		if p != nil {
			all.Go(func() { errs[i] = p.Stop() })
		}
	}
	all.Wait()
	if h.server != nil {
		errs[len(h.agents)] = h.server.Stop()
	}
	if h.Pool != nil {
		h.Pool.Close()
	}
	return errors.Join(errs...)
}
