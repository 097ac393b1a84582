package target_test

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/weirhq/weir/internal/mariatest"
	"github.com/weirhq/weir/internal/rollout/script"
	"github.com/weirhq/weir/internal/rollout/target"
	"github.com/weirhq/weir/internal/testdb"
	"github.com/weirhq/weir/internal/testwait"
)

func TestMain(m *testing.M) {
	if task := os.Getenv(childVariable); task != "" {
		child(task)
		return
	}
	testdb.Main(m)
}

// place is a database of one engine, and a way to look at it beside Weir.
type place struct {
	engine  script.Engine
	dsn     string
	address string // host:port
	db      *sql.DB
}

// onBoth runs a test on a database of each engine.
func onBoth(t *testing.T, test func(t *testing.T, p *place)) {
	t.Helper()
	t.Run("postgres", func(t *testing.T) { test(t, onPostgres(t)) })
	t.Run("mariadb", func(t *testing.T) { test(t, onMaria(t)) })
}

func onPostgres(t *testing.T) *place {
	t.Helper()
	db := testdb.NewEmpty(t)
	config, err := pgx.ParseConfig(db.URL)
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(db.URL)
	if err != nil {
		t.Fatal(err)
	}
	p := &place{engine: script.Postgres, dsn: db.URL, address: u.Host, db: stdlib.OpenDB(*config)}
	t.Cleanup(func() { p.db.Close() })
	return p
}

func onMaria(t *testing.T) *place {
	t.Helper()
	db := mariatest.New(t)
	return &place{engine: script.MySQL, dsn: db.DSN, address: db.Address, db: db.SQL}
}

// open gives the target itself.
func (p *place) open(t testing.TB, o target.Options) target.Target {
	t.Helper()
	got, err := target.Open(t.Context(), p.engine, p.dsn, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(got.Close)
	return got
}

func (p *place) exec(t testing.TB, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := p.db.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// one is the first column of the first row, as text.
func (p *place) one(t testing.TB, query string, args ...any) string {
	t.Helper()
	var text sql.NullString
	err := p.db.QueryRowContext(t.Context(), query, args...).Scan(&text)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		t.Fatalf("%s: %v", query, err)
	}
	return text.String
}

func (p *place) expect(t testing.TB, want, query string, args ...any) {
	t.Helper()
	if got := p.one(t, query, args...); got != want {
		t.Errorf("%s: %q, want %q", query, got, want)
	}
}

// change makes a run of one file.
func (p *place) change(t testing.TB, attempt int, file, text string) target.Run {
	t.Helper()
	c, err := script.Read(file, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	steps, err := script.Steps(p.engine, c)
	if err != nil {
		t.Fatal(err)
	}
	return target.Run{
		Rollout: "rollout-1", Task: "task-" + file, Attempt: attempt, Token: fmt.Sprintf("token-%d", attempt),
		Change: c, Steps: steps, By: "tester",
	}
}

// watch keeps what it is told. Each hook is called before it is kept.
type watch struct {
	onPhase     func(target.Phase) error
	onStatement func(target.StatementDone)
	onWaiting   func(string)

	mu         sync.Mutex
	phases     []string
	statements []target.StatementDone
	waits      []string
}

func (w *watch) Phase(_ context.Context, p target.Phase) error {
	if w.onPhase != nil {
		if err := w.onPhase(p); err != nil {
			return err
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.phases = append(w.phases, string(p))
	return nil
}

func (w *watch) Statement(_ context.Context, s target.StatementDone) {
	if w.onStatement != nil {
		w.onStatement(s)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.statements = append(w.statements, s)
}

func (w *watch) Waiting(_ context.Context, what string) {
	if w.onWaiting != nil {
		w.onWaiting(what)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waits = append(w.waits, what)
}

// waited finds a thing it was told to wait for.
func (w *watch) waited(part string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, what := range w.waits {
		if strings.Contains(what, part) {
			return true
		}
	}
	return false
}

// failure is the error of an Apply, which must be one.
func failure(t testing.TB, err error, code string) *target.Failure {
	t.Helper()
	var f *target.Failure
	if !errors.As(err, &f) {
		t.Fatalf("got %v, want a failure %s", err, code)
	}
	if f.Code != code {
		t.Fatalf("code %s (%v), want %s", f.Code, err, code)
	}
	return f
}

// childVariable makes the test binary an executor that can be killed.
const childVariable = "WEIR_TARGET_TEST_CHILD"

// order is what a child is to do.
type order struct {
	Engine script.Engine
	DSN    string
	// Run is read by the parent: a child would need seconds to load the parser.
	Run target.Run
	// At is where it stops for good: "open", a phase, or "statement N". Nap is
	// where it is stopped until somebody wakes it, as a machine that sleeps.
	At, Nap string
}

// child applies a change and says on its output how far it is.
func child(text string) {
	var o order
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		panic(err)
	}
	at := func(point string) {
		fmt.Println(point)
		if point == o.At {
			select {}
		}
		if point == o.Nap {
			// The signal may meet another thread, and this one would go on for a moment.
			woken := make(chan os.Signal, 1)
			signal.Notify(woken, syscall.SIGCONT)
			if err := syscall.Kill(os.Getpid(), syscall.SIGSTOP); err != nil {
				panic(err)
			}
			<-woken
		}
	}
	ctx := context.Background()
	db, err := target.Open(ctx, o.Engine, o.DSN, target.Options{})
	if err != nil {
		panic(err)
	}
	w := &watch{
		onPhase:     func(p target.Phase) error { at(string(p)); return nil },
		onStatement: func(s target.StatementDone) { at(fmt.Sprintf("statement %d", s.Index)) },
	}
	at("open")
	_, err = db.Apply(ctx, o.Run, w)
	var f *target.Failure
	if errors.As(err, &f) {
		fmt.Printf("end: %s unknown=%v\n", f.Code, f.Unknown)
		return
	}
	fmt.Printf("end: %v\n", err)
}

// process is a child that runs.
type process struct {
	cmd   *exec.Cmd
	lines *bufio.Scanner
}

func (p *place) start(t testing.TB, o order) *process {
	t.Helper()
	o.Engine = p.engine
	if o.DSN == "" {
		o.DSN = p.dsn
	}
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childVariable+"="+string(text))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c := &process{cmd, bufio.NewScanner(out)}
	t.Cleanup(c.kill)
	return c
}

// await reads the child's output up to a line that begins so.
func (c *process) await(t testing.TB, point string) string {
	t.Helper()
	for c.lines.Scan() {
		if strings.HasPrefix(c.lines.Text(), point) {
			return c.lines.Text()
		}
	}
	t.Fatalf("the child ended before %q: %v", point, c.lines.Err())
	return ""
}

// kill is kill -9.
func (c *process) kill() {
	_ = c.cmd.Process.Kill()
	_ = c.cmd.Wait()
}

// asleep waits until the child is stopped.
func (c *process) asleep(t testing.TB) {
	t.Helper()
	testwait.Until(t, "the child is stopped", func() bool {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", c.cmd.Process.Pid))
		return err == nil && strings.Contains(string(stat), ") T ")
	})
}

func (c *process) wake(t testing.TB) {
	t.Helper()
	if err := c.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
}
