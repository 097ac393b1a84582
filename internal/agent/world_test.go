package agent_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/agent"
	"github.com/weirhq/weir/internal/agent/driver"
	"github.com/weirhq/weir/internal/agent/driver/exec"
	"github.com/weirhq/weir/internal/blob"
	"github.com/weirhq/weir/internal/blob/joblog"
	"github.com/weirhq/weir/internal/listen"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/testdb"
	"github.com/weirhq/weir/internal/testwait"
	"github.com/weirhq/weir/internal/vault"
)

// world is a database, a bucket and a vault for the agents of a test.
type world struct {
	testing.TB
	db     *testdb.DB
	bucket blob.Bucket
	folder string
	vault  *vault.Vault
	hints  *node.Hints
	log    *testwait.Text
}

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{TB: t, db: testdb.New(t), folder: t.TempDir(), log: &testwait.Text{}}
	var err error
	if w.bucket, err = blob.Open(t.Context(), "folder://"+w.folder); err != nil {
		t.Fatal(err)
	}
	w.vault = vault.New(w.db.Pool, vault.RandomKeys(), nil)
	listener := listen.New(w.db.Pool.Config().ConnConfig, nil)
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan struct{})
	go func() {
		defer close(over)
		_ = listener.Run(ctx)
	}()
	w.hints = node.NewHints(w.db.Pool, listener)
	tended := make(chan struct{})
	go func() { // what a coordinator would do
		defer close(tended)
		for ctx.Err() == nil {
			_, _ = w.db.Pool.Exec(ctx, `select weir.tend(true)`)
			<-time.After(20 * time.Millisecond)
		}
	}()
	t.Cleanup(func() {
		w.hints.Close()
		cancel()
		<-over
		<-tended
		if t.Failed() {
			t.Log(w.log.String())
		}
	})
	return w
}

func (w *world) desk(name string) *node.Desk {
	return node.NewDesk(w.db.Pool, name, node.Options{Bucket: w.bucket, Vault: w.vault, Hints: w.hints})
}

// config returns the configuration of an agent with the exec driver.
func (w *world) config(name string, capacity map[string]int) agent.Config {
	dir := w.TempDir()
	if err := os.Chmod(filepath.Dir(dir), 0o711); err != nil {
		w.Fatal(err)
	}
	if err := os.Chmod(dir, 0o711); err != nil {
		w.Fatal(err)
	}
	return agent.Config{
		Transport: w.desk(name), Dir: dir, Grace: time.Second,
		Info:    node.Info{Name: name, Capacity: capacity, Version: "test"},
		Drivers: map[string]driver.Driver{"exec": exec.New(exec.Options{Dir: agent.Attempts(dir)})},
		Log:     slog.New(slog.NewTextHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
}

// run starts an agent that leaves when the test ends.
func (w *world) run(c agent.Config) *agent.Agent {
	w.Helper()
	a := agent.New(c)
	over := make(chan error, 1)
	go func() { over <- a.Run(context.Background()) }()
	w.Cleanup(func() {
		a.Leave()
		if err := <-over; err != nil {
			w.Errorf("the agent ended with %v", err)
		}
		if left := ls(w, agent.Attempts(c.Dir)); len(left) > 0 {
			w.Errorf("folders are left: %v", left)
		}
	})
	return a
}

func ls(w *world, dir string) (names []string) {
	entries, err := os.ReadDir(dir)
	if err != nil && !os.IsNotExist(err) {
		w.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// step is one task of a job, as JSON.
type step map[string]any

// sh is a step that a shell runs.
func sh(key, script string) step {
	return step{"key": key, "service": "sh", "max_attempts": 1, "backoff": "0.01 s", "run": map[string]any{"driver": "exec", "argv": []string{"/bin/sh", "-c", script}}}
}

func (s step) with(name string, value any) step {
	s[name] = value
	return s
}

// running adds a field to how the step is run.
func (s step) running(name string, value any) step {
	s["run"].(map[string]any)[name] = value
	return s
}

func (w *world) submit(steps ...step) weir.ID {
	w.Helper()
	text, err := json.Marshal(steps)
	if err != nil {
		w.Fatal(err)
	}
	return one[weir.ID](w, `select weir.submit_job($1, 'test')`, text)
}

// one reads a single value.
func one[T any](w *world, sql string, args ...any) (v T) {
	w.Helper()
	if err := w.db.Pool.QueryRow(context.Background(), sql, args...).Scan(&v); err != nil {
		w.Fatalf("%s: %v", sql, err)
	}
	return v
}

// task is the current row of a step.
type task struct {
	ID      weir.ID
	State   string
	Attempt int
	Result  string
	Cause   string
}

func (w *world) task(job weir.ID, key string) (t task) {
	w.Helper()
	err := w.db.Pool.QueryRow(context.Background(), `select id, state, coalesce(attempt, 0), coalesce(result::text, ''), coalesce(cause, '') from weir.task where job = $1 and key = $2`, job, key).
		Scan(&t.ID, &t.State, &t.Attempt, &t.Result, &t.Cause)
	if err != nil {
		w.Fatal(err)
	}
	return t
}

// end waits until a step has ended.
func (w *world) end(job weir.ID, key string) (t task) {
	w.Helper()
	w.until(fmt.Sprintf("step %s ends", key), func() bool {
		t = w.task(job, key)
		return t.State == "done" || t.State == "failed" || t.State == "canceled" || t.State == "skipped"
	})
	return t
}

// until waits for a condition.
func (w *world) until(what string, is func() bool) {
	w.Helper()
	testwait.Until(w, what, is)
}

// logOf returns the whole stored log of an attempt, one entry per line with its stream.
func (w *world) logOf(job weir.ID, key string, attempt int) []string {
	w.Helper()
	return w.read(joblog.Log{Job: job.String(), Task: key, Attempt: attempt})
}

func (w *world) read(log joblog.Log) (lines []string) {
	w.Helper()
	for line, err := range joblog.Read(context.Background(), w.bucket, log, joblog.Place{}) {
		if err != nil {
			w.Fatal(err)
		}
		lines = append(lines, line.Stream+": "+line.Text)
	}
	return lines
}

// alive returns the processes of a job that run at this moment.
func alive(job weir.ID) (pids []int) {
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range files {
		env, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(env, []byte("WEIR_JOB_ID="+job.String()+"\x00")) {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		pids = append(pids, pid)
	}
	return pids
}

// running waits until a step and its process run.
func (w *world) running(job weir.ID, key string) {
	w.Helper()
	w.until("step "+key+" runs", func() bool { return w.task(job, key).State == "running" && len(alive(job)) > 0 })
}

// gone waits until no process of a job runs.
func (w *world) gone(job weir.ID) {
	w.Helper()
	w.until("nothing of the job runs", func() bool { return len(alive(job)) == 0 })
}
