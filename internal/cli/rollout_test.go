package cli

import (
	"context"
	database "database/sql"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/rollout"
)

// newTarget is target VARIABLE: it makes an empty database in the script's cluster and puts its
// address into a variable.
func newTarget(ts *testscript.TestScript, _ bool, args []string) {
	at := ts.Getenv("URL")
	if at == "" {
		at = ts.Getenv("WEIR_DATABASE_URL")
	}
	u, err := url.Parse(at)
	ts.Check(err)
	name := strings.Replace(strings.TrimPrefix(u.Path, "/"), "weir_test_", "weir_target_", 1) + "_" + strings.ToLower(args[0])
	conn, err := pgx.Connect(context.Background(), at)
	ts.Check(err)
	defer conn.Close(context.Background())
	_, err = conn.Exec(context.Background(), `create database `+pgx.Identifier{name}.Sanitize())
	ts.Check(err)
	ts.Defer(func() {
		conn, err := pgx.Connect(context.Background(), at)
		ts.Check(err)
		defer conn.Close(context.Background())
		_, err = conn.Exec(context.Background(), `drop database if exists `+pgx.Identifier{name}.Sanitize()+` with (force)`)
		ts.Check(err)
	})
	u.Path = "/" + name
	ts.Setenv(args[0], u.String())
}

// inTarget is in VARIABLE STATEMENT: it runs a statement in the database of that variable.
func inTarget(ts *testscript.TestScript, _ bool, args []string) {
	conn, err := pgx.Connect(context.Background(), ts.Getenv(args[0]))
	ts.Check(err)
	defer conn.Close(context.Background())
	_, err = conn.Exec(context.Background(), strings.Join(args[1:], " "))
	ts.Check(err)
}

// inMaria is maria STATEMENT: it runs a statement in the script's MariaDB.
func inMaria(ts *testscript.TestScript, _ bool, args []string) {
	db, err := database.Open("mysql", ts.Getenv("MARIA_DSN"))
	ts.Check(err)
	defer db.Close()
	_, err = db.ExecContext(context.Background(), strings.Join(args, " "))
	ts.Check(err)
}

// A board has a line per stage and per database, fits the width, and drops first
// what is done.
func TestDrawRollout(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	began := now.Add(-12 * time.Second)
	p := rolloutPage{Rollout: rollout.Rollout{Name: "orders", State: "running", StartedAt: &began, Waits: "stage prod waits for approval", Counts: rollout.Counts{Total: 8, Done: 3, Running: 1}}}
	p.Stages = []rollout.StageState{{Name: "test", State: "running", Counts: rollout.Counts{Total: 4, Done: 3}}, {Name: "prod", State: "waiting", Waits: "1 approval", Counts: rollout.Counts{Total: 4}}}
	add := func(stage, database, version, status, cause string) {
		p.Tasks = append(p.Tasks, rollout.Task{ID: weir.ID{byte(len(p.Tasks) + 1)}, Stage: stage, Database: database, Version: version, Status: status, Cause: cause, StartedAt: &began})
	}
	add("test", "a", "1", rollout.Done, "")
	add("test", "a", "2", rollout.Done, "")
	add("test", "b", "1", rollout.Done, "")
	add("test", "b", "2", rollout.Running, "")
	add("prod", "c", "1", rollout.Failed, "syntax error\x1b[31m")
	add("prod", "c", "2", rollout.Pending, "waits for 1")
	for i := range 5 {
		add("prod", fmt.Sprintf("d%d", i), "1", rollout.NotStarted, "waits for stage test")
	}
	o := &output{now: now, width: 60}
	lines := drawRollout(o, p, 40)
	for n, line := range lines {
		if cells(line) > o.width {
			t.Errorf("line %d has %d cells: %s", n, cells(line), line)
		}
	}
	got := strings.Join(lines, "\n")
	for _, want := range []string{"orders  running  3/8  12s", "stage prod waits for approval", "  test  running  3/4", "    b   ✓●  2 RUNNING 12s", "    c   ✗○  1 FAILED: syntax error\n", "    d4  ·   1 NOT_STARTED"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	small := strings.Join(drawRollout(o, p, 9), "\n")
	if !strings.Contains(small, "1 FAILED") || !strings.Contains(small, "2 RUNNING") || strings.Contains(small, "2 DONE") || !strings.Contains(small, "… and ") {
		t.Errorf("the small board:\n%s", small)
	}
}
