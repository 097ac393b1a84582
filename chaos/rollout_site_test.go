//go:build unix

package chaos

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/mariatest"
	"github.com/weirhq/weir/internal/rollout"
	changes "github.com/weirhq/weir/internal/rollout/script"
	"github.com/weirhq/weir/internal/rollout/target"
	"github.com/weirhq/weir/internal/testdb"
	"github.com/weirhq/weir/internal/testwait"
	"github.com/weirhq/weir/internal/vault"
)

// site is a Weir whose servers are processes, with databases to change.
type site struct {
	*run
	store *rollout.Store
	// environment is that of the product's processes.
	environment []string
	// first is the database that faults hit, and twin is one without faults.
	first, twin *place
}

// place is a database, and a connection to it without Weir.
type place struct {
	name    string
	engine  changes.Engine
	dsn     string
	address string // host:port
	*sql.DB
}

// newSite registers two equal databases of an engine, with change 1 applied.
func newSite(t *testing.T, engine changes.Engine, setup string) *site {
	t.Helper()
	s := &site{run: newRun(t)}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	t.Cleanup(cancel)
	s.ctx = ctx
	file := filepath.Join(t.TempDir(), "secret.key")
	keys, err := vault.LoadKeys(file, true)
	if err != nil {
		t.Fatal(err)
	}
	s.store = rollout.New(s.pool, rollout.Options{Vault: vault.New(s.pool, keys, nil)})
	s.environment = append(os.Environ(), "WEIR_DATABASE_URL="+s.url, "WEIR_SECRET_KEY_FILE="+file,
		"WEIR_DATA="+t.TempDir(), "WEIR_COORDINATOR_TTL=3s", "WEIR_COORDINATOR_ACTIVE_INTERVAL=100ms")
	s.first, s.twin = s.place("first", engine), s.place("twin", engine)
	for _, p := range []*place{s.first, s.twin} {
		s.register(p, p.dsn)
		// The tables of Weir are there, as after any change.
		change := s.change(1, setup)
		steps, err := changes.Steps(engine, change)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.open(p).Apply(s.ctx, target.Run{Rollout: "setup", Task: "setup", Attempt: 1, Token: "setup", Change: change, Steps: steps, By: "ann"}, quiet{}); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// quiet receives what a run does, and keeps nothing of it.
type quiet struct{}

func (quiet) Phase(context.Context, target.Phase) error       { return nil }
func (quiet) Statement(context.Context, target.StatementDone) {}
func (quiet) Waiting(context.Context, string)                 {}
func (s *site) change(version int, text string) changes.Change {
	s.Helper()
	change, err := changes.Read(fmt.Sprintf("V%03d__change.sql", version), []byte(text))
	if err != nil {
		s.Fatal(err)
	}
	return change
}

func (s *site) place(name string, engine changes.Engine) *place {
	s.Helper()
	if engine == changes.MySQL {
		db := mariatest.New(s.T)
		return &place{name: name, engine: engine, dsn: db.DSN, address: db.Address, DB: db.SQL}
	}
	db := testdb.NewEmpty(s.T)
	config, err := pgx.ParseConfig(db.URL)
	if err != nil {
		s.Fatal(err)
	}
	u, err := url.Parse(db.URL)
	if err != nil {
		s.Fatal(err)
	}
	p := &place{name: name, engine: engine, dsn: db.URL, address: u.Host, DB: stdlib.OpenDB(*config)}
	s.Cleanup(func() { p.Close() })
	return p
}

func (s *site) register(p *place, dsn string) {
	s.Helper()
	d, err := s.store.PutDatabase(s.ctx, "ann", rollout.Database{Name: p.name, Engine: string(p.engine), Environment: p.name}, dsn)
	if err != nil || d.Fault != "" {
		s.Fatalf("register %s: %s %v", p.name, d.Fault, err)
	}
}

func (s *site) open(p *place) target.Target {
	s.Helper()
	t, err := target.Open(s.ctx, p.engine, p.dsn, target.Options{})
	if err != nil {
		s.Fatal(err)
	}
	return t
}

// start creates a rollout of one change for a place, starts it, and returns its task.
func (s *site) start(p *place, change changes.Change) weir.ID {
	s.Helper()
	x, err := s.store.Create(s.ctx, "ann", rollout.Plan{Name: "for " + p.name, Stages: []rollout.Stage{{Name: p.name}}, Changes: []changes.Change{change}}, "")
	if err != nil {
		s.Fatal(err)
	}
	s.must(s.store.Start(s.ctx, "ann", x.ID))
	list, err := tasksOf(s.ctx, s.store, x.ID)
	if err != nil || len(list) != 1 {
		s.Fatal(list, err)
	}
	return list[0].ID
}

func (s *site) must(a rollout.Answer, err error) {
	s.Helper()
	if err != nil || !a.Changed {
		s.Fatalf("%+v %v", a, err)
	}
}

func (s *site) task(id weir.ID) rollout.Task {
	s.Helper()
	t, err := s.store.Task(s.ctx, id)
	if err != nil {
		s.Fatal(err)
	}
	return t
}

// until waits for a condition of a task, and reports the task if the condition does not
// become true.
func (s *site) until(id weir.ID, what string, ok func() bool) {
	s.Helper()
	if s.within(testwait.Limit, ok) {
		return
	}
	report, err := s.store.Run(s.ctx, id, 0)
	s.Fatalf("not within %s: %s; the task is %+v, its runs %+v, its log %+v %v", testwait.Limit, what, s.task(id), report.Attempts, report.Log, err)
}

// ends waits until a task is in one of these statuses.
func (s *site) ends(id weir.ID, status ...string) rollout.Task {
	s.Helper()
	var t rollout.Task
	s.until(id, strings.Join(status, " or "), func() bool {
		t = s.task(id)
		for _, want := range status {
			if t.Status == want {
				return true
			}
		}
		return false
	})
	return t
}

// product runs a command of Weir to its end.
func (s *site) product(args ...string) string {
	s.Helper()
	cmd := s.command(args...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.Fatalf("weir %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

func (s *site) command(args ...string) *exec.Cmd {
	s.Helper()
	cmd := exec.Command(program(s.T, "weir"), args...)
	cmd.Env = s.environment
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	dieWithParent(cmd.SysProcAttr)
	return cmd
}

// server starts a server as its own process, and waits until it is up.
func (s *site) server() *os.Process {
	s.Helper()
	return s.serverAt("127.0.0.1:0")
}

// serverAt does so at an address.
func (s *site) serverAt(address string) *os.Process {
	s.Helper()
	cmd := s.command("server", "--listen", address, "--drain-delay", "none")
	said := &strings.Builder{}
	cmd.Stderr = said
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended long ago
		_ = cmd.Wait()
		if s.Failed() {
			s.Logf("server %d said:\n%s", cmd.Process.Pid, said)
		}
	})
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "Weir is up after ") {
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return cmd.Process
		}
	}
	s.Fatal("the server ended before it was up")
	return nil
}

func (s *site) signal(p *os.Process, signal syscall.Signal) {
	s.Helper()
	if err := p.Signal(signal); err != nil {
		s.Fatal(err)
	}
}

// lapse moves the end of a task's lease into the past, so that the lease is over.
func (s *site) lapse(id weir.ID) {
	s.Helper()
	tag, err := s.pool.Exec(s.ctx, `update weir.running set until = clock_timestamp() - interval '1 s' where task = $1`, id)
	if err != nil {
		s.Fatalf("the lease of the task: %v", err)
	}
	if tag.RowsAffected() == 0 { // a slow machine let it run out
		s.ends(id, rollout.Unknown, rollout.Failed)
	}
}

// one returns the first column of the first row, as text.
func (s *site) one(p *place, query string, args ...any) string {
	s.Helper()
	var text sql.NullString
	if err := p.QueryRowContext(s.ctx, query, args...).Scan(&text); err != nil && err != sql.ErrNoRows {
		s.Fatalf("%s: %v", query, err)
	}
	return text.String
}

func (s *site) expect(p *place, want, query string, args ...any) {
	s.Helper()
	if got := s.one(p, query, args...); got != want {
		s.Errorf("%s, %s: %q, want %q", p.name, query, got, want)
	}
}

// hold runs statements on its own connection and keeps it until release.
func (s *site) hold(p *place, statements ...string) (release func()) {
	s.Helper()
	conn, err := p.Conn(s.ctx)
	if err != nil {
		s.Fatal(err)
	}
	for _, text := range statements {
		if _, err := conn.ExecContext(s.ctx, text); err != nil {
			s.Fatalf("%s: %v", text, err)
		}
	}
	released := false
	release = func() {
		if released {
			return
		}
		released = true
		let := "rollback"
		if p.engine == changes.MySQL {
			let = "unlock tables" // and a rollback, when the connection is given back
		}
		if _, err := conn.ExecContext(context.Background(), let); err != nil {
			s.Error(err)
		}
		if p.engine == changes.MySQL {
			_, _ = conn.ExecContext(context.Background(), "rollback") // nothing is left to undo, mostly
		}
		if err := conn.Close(); err != nil {
			s.Error(err)
		}
	}
	s.Cleanup(release)
	return release
}

// waitsIn reports whether attempt 1 of a task waits in its database, in a statement that
// contains part.
func (s *site) waitsIn(id weir.ID, part string) bool {
	s.Helper()
	if s.first.engine == changes.MySQL {
		return s.one(s.first, `select count(*) from information_schema.processlist where db = database() and id <> connection_id() and info like concat('%', ?, '%') and (state like 'waiting%' or state = 'updating' or state = 'statistics')`, part) != "0"
	}
	return s.one(s.first, `select count(*) from pg_stat_activity where application_name = $1 and wait_event_type = 'Lock' and strpos(lower(query), $2) > 0`,
		target.ApplicationName(id.String(), 1), part) != "0"
}

// terminate ends the sessions of attempt 1, as a server does that notices that its client
// is gone.
func (s *site) terminate(id weir.ID) {
	s.Helper()
	if _, err := s.open(s.first).Cancel(s.ctx, target.ApplicationName(id.String(), 1), true); err != nil {
		s.Fatal(err)
	}
}

// conclude ends the test: the same change applied to the twin without any fault has the
// same result, and the doctor reports no fault.
func (s *site) conclude(change changes.Change, rows ...string) {
	s.Helper()
	twin := s.start(s.twin, change)
	s.ends(twin, rollout.Done)
	var hashes, texts []string
	for _, p := range []*place{s.first, s.twin} {
		snap, err := s.open(p).Snapshot(s.ctx)
		if err != nil {
			s.Fatal(err)
		}
		hashes, texts = append(hashes, snap.Hash), append(texts, snap.Text)
		s.expect(p, "1", `select count(*) from weir_history where version = '2'`)
		s.expect(p, "0", `select count(*) from weir_steps`)
	}
	if hashes[0] != hashes[1] || texts[0] == "" {
		s.Errorf("schema\n%s\nwant\n%s", texts[0], texts[1])
	}
	for _, query := range rows {
		s.expect(s.first, s.one(s.twin, query), query)
	}
	var n int
	if err := s.pool.QueryRow(s.ctx, `select weir.rollout_sweep()`).Scan(&n); err != nil || n > 0 {
		s.Errorf("%d holds were not what they should be: %v", n, err)
	}
	if found := s.run.doctor(); len(found) > 0 {
		s.Errorf("%s", Report(found))
	}
}
