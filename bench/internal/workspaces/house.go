package workspaces

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/bench/internal/flow"
	"github.com/weirhq/weir/bench/internal/flow/weirflow"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/pg"
	"github.com/weirhq/weir/internal/workspace"
	"github.com/weirhq/weir/internal/workspace/ladder"
	"github.com/weirhq/weir/schema"
)

// Program returns weir: the program at path, or one that is built into a folder like make
// build does, static, so that it runs in containers.
func Program(ctx context.Context, path, folder string) (string, error) {
	if path != "" {
		return filepath.Abs(path)
	}
	to := filepath.Join(folder, "weir")
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "-o", to, "github.com/weirhq/weir/cmd/weir")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build weir: %w\n%s", err, out)
	}
	return to, nil
}

// Base is the common base of all parts: a database with one user, who is logged in.
type Base struct {
	URL   string
	Pool  *pgxpool.Pool
	Store *workspace.Store
	// User may do everything.
	User  auth.Subject
	Owner weir.ID
}

// OpenBase makes a base in a database of Weir, or an empty one.
func OpenBase(ctx context.Context, databaseURL string) (b *Base, err error) {
	if _, err := pg.Migrate(ctx, databaseURL, schema.FS); err != nil {
		return nil, fmt.Errorf("migrate Weir: %w", err)
	}
	b = &Base{URL: databaseURL}
	if b.Pool, err = pg.Open(ctx, databaseURL, pg.Options{Name: "bench workspaces", MaxConns: 4}); err != nil {
		return nil, err
	}
	b.Store = workspace.New(b.Pool)
	if err := b.logIn(ctx); err != nil {
		b.Pool.Close()
		return nil, fmt.Errorf("log in: %w", err)
	}
	return b, nil
}

func (b *Base) logIn(ctx context.Context) error {
	if _, err := b.Pool.Exec(ctx, `select weir.ensure_partitions()`); err != nil {
		return err
	}
	people := auth.New(b.Pool, auth.Options{})
	if _, err := people.CreateUser(ctx, auth.System("bench"), auth.NewUser{Name: "bench", Role: auth.Admin}); err != nil {
		return err
	}
	link, err := people.NewLink(ctx, auth.System("bench"), "bench", 0)
	if err != nil {
		return err
	}
	if _, b.User, err = people.UseLink(ctx, link, auth.NewUser{}, auth.Client{Address: "127.0.0.1"}); err != nil {
		return err
	}
	b.Owner, err = weir.ParseID(b.User.UserID)
	return err
}

// Close removes the workspaces and closes the connections.
func (b *Base) Close(ctx context.Context) error {
	defer b.Pool.Close()
	_, err := b.Pool.Exec(ctx, `delete from weir.workspaces`)
	return err
}

// House is a server that runs workspaces.
type House struct {
	*Base
	at     workspace.Address
	listen string
	server *flow.Process
}

// OpenHouse starts weir up with providers. host is the address of Docker.
func OpenHouse(ctx context.Context, b *Base, program, folder, host string, providers ...string) (*House, error) {
	data := filepath.Join(folder, "data")
	args := []string{"up", "--data", data, "--listen", "127.0.0.1:0", "--workspace-providers", strings.Join(providers, ",")}
	if host != "" {
		args = append(args, "--docker-host", host)
	}
	cmd := exec.Command(program, args...) // the benchmark stops it
	for _, pair := range os.Environ() {
		if !strings.HasPrefix(pair, "WEIR_") {
			cmd.Env = append(cmd.Env, pair)
		}
	}
	cmd.Env = append(cmd.Env, "WEIR_DATABASE_URL="+b.URL, "WEIR_LOG_LEVEL=warn")
	if self, err := os.Executable(); err == nil && self == program {
		cmd.Env = append(cmd.Env, weirflow.Variable+"=1")
	}
	server, err := flow.StartProcess(ctx, "weir up", cmd, func(said string) bool { return strings.Contains(said, "Weir is up") })
	if err != nil {
		return nil, err
	}
	h := &House{Base: b, server: server}
	if err := h.find(data); err != nil {
		return nil, errors.Join(err, server.Stop())
	}
	return h, nil
}

// find reads the address of the server.
func (h *House) find(data string) error {
	var running struct{ URL, Listen string }
	text, err := os.ReadFile(filepath.Join(data, "server.json"))
	if err == nil {
		err = json.Unmarshal(text, &running)
	}
	if err != nil {
		return fmt.Errorf("find the server: %w", err)
	}
	u, err := url.Parse(running.URL)
	if err != nil {
		return err
	}
	h.at, h.listen = workspace.Address{Scheme: u.Scheme, Domain: "localhost", Port: u.Port()}, running.Listen
	return nil
}

// Close stops the server, and with it the workspaces that run as processes.
func (h *House) Close() error { return h.server.Stop() }

// Make makes a workspace in standby.
func (b *Base) Make(ctx context.Context, name, provider string) (weir.ID, error) {
	id, _, err := b.Store.Create(ctx, "bench", workspace.Draft{Owner: b.Owner, Name: name, Provider: provider, Desired: ladder.Standby})
	if err != nil {
		return id, err
	}
	return id, b.Await(ctx, id, ladder.Standby)
}

// Want wants a phase and waits until it is reached.
func (b *Base) Want(ctx context.Context, id weir.ID, phase ladder.Phase) error {
	if _, err := b.Store.Want(ctx, id, phase, "bench", ""); err != nil {
		return err
	}
	return b.Await(ctx, id, phase)
}

// Await waits until a workspace is at rest in a phase.
func (b *Base) Await(ctx context.Context, id weir.ID, phase ladder.Phase) error {
	var is, says string
	err := flow.Poll(ctx, askEvery, func(ctx context.Context) (over bool, err error) {
		err = b.Pool.QueryRow(ctx, `select w.phase, concat_ws(', ', w.operation, w.error_reason, w.error_message), w.phase = $2 and w.operation = 'NONE' from weir.workspaces w where w.id = $1`, id, phase).Scan(&is, &says, &over)
		if err == nil && is == string(ladder.Error) {
			err = errors.New("it is in error")
		}
		return over, err
	})
	if err != nil {
		return fmt.Errorf("wait for %s: %w; it is %s (%s)", phase, err, is, says)
	}
	return nil
}
