package rollout

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/rollout/script"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files again")

// scene is a rollout in a state, and a task of it that commands are about.
type scene struct {
	name string
	make func(r *rig) (Rollout, weir.ID)
}

// twoStages is the plan of all scenes: prod needs an approval and a promotion.
func twoStages() Plan {
	return Plan{Name: "p", Stages: []Stage{{Name: "test", Databases: []string{"a"}}, {Name: "prod", Databases: []string{"b"}, Approvals: 1, Promote: PromoteManual}}, Changes: []script.Change{ddl(1), ddl(2)}}
}

// scenes are all states of a rollout and all statuses of a task, as people meet them.
var scenes = []scene{
	{"not_started, task NOT_STARTED", func(r *rig) (Rollout, weir.ID) {
		x := r.create(twoStages())
		return x, r.task(x.ID, "test/a/1").ID
	}},
	{"not_started and approved, task of prod NOT_STARTED", func(r *rig) (Rollout, weir.ID) {
		x := r.create(twoStages())
		r.must(r.store.Approve(r.Context(), "bob", x.ID, "prod", ""))
		return x, r.task(x.ID, "prod/b/1").ID
	}},
	{"running, task AVAILABLE", func(r *rig) (Rollout, weir.ID) {
		x := r.started(twoStages())
		return x, r.task(x.ID, "test/a/1").ID
	}},
	{"running, task PENDING behind another", func(r *rig) (Rollout, weir.ID) {
		x := r.started(twoStages())
		return x, r.task(x.ID, "test/a/2").ID
	}},
	{"running, task RUNNING", func(r *rig) (Rollout, weir.ID) {
		x := r.started(twoStages())
		l := r.claim("test/a/1")
		r.brief(l)
		return x, l.task
	}},
	{"running, task RUNNING and asked to stop", func(r *rig) (Rollout, weir.ID) {
		x := r.started(twoStages())
		l := r.claim("test/a/1")
		r.brief(l)
		r.must(r.store.Cancel(r.Context(), "bob", l.task, ""))
		return x, l.task
	}},
	{"running, task RUNNING again", func(r *rig) (Rollout, weir.ID) {
		x := r.started(twoStages())
		l := r.claim("test/a/1")
		r.fail(l, "sql")
		r.must(r.store.Retry(r.Context(), "bob", l.task))
		r.brief(r.claim("test/a/1"))
		return x, l.task
	}},
	{"waiting for approval, task PENDING", func(r *rig) (Rollout, weir.ID) {
		x := r.started(twoStages())
		r.done(r.claim("test/a/1"))
		r.done(r.claim("test/a/2"))
		r.state(x.ID, StateWaiting)
		return x, r.task(x.ID, "prod/b/1").ID
	}},
	{"waiting for promotion, task PENDING", func(r *rig) (Rollout, weir.ID) {
		x := r.started(twoStages())
		r.done(r.claim("test/a/1"))
		r.done(r.claim("test/a/2"))
		r.must(r.store.Approve(r.Context(), "bob", x.ID, "prod", ""))
		r.state(x.ID, StateWaiting)
		return x, r.task(x.ID, "prod/b/1").ID
	}},
	{"paused, task PENDING", func(r *rig) (Rollout, weir.ID) {
		x := r.started(twoStages())
		r.must(r.store.Pause(r.Context(), "bob", x.ID, "lunch"))
		return x, r.task(x.ID, "test/a/1").ID
	}},
	{"failed (stopped), task FAILED", func(r *rig) (Rollout, weir.ID) {
		x := r.started(twoStages())
		l := r.claim("test/a/1")
		r.fail(l, "sql")
		r.state(x.ID, StateFailed)
		return x, l.task
	}},
	{"failed (stopped), task UNKNOWN", func(r *rig) (Rollout, weir.ID) {
		x := r.started(twoStages())
		l := r.claim("test/a/1")
		r.lose(l, "sent")
		return x, l.task
	}},
	{"failed (stopped), task CANCELED", func(r *rig) (Rollout, weir.ID) {
		x := r.started(twoStages())
		l := r.claim("test/a/1")
		r.brief(l)
		r.must(r.store.Cancel(r.Context(), "bob", l.task, ""))
		r.exec(`select weir.confirm_cancel($1, $2, $3)`, l.task, l.attempt, l.token)
		return x, l.task
	}},
	{"running, task SKIPPED", func(r *rig) (Rollout, weir.ID) {
		x := r.started(twoStages())
		id := r.task(x.ID, "test/a/1").ID
		r.must(r.store.Skip(r.Context(), "bob", id, "not needed"))
		return x, id
	}},
	{"done, task DONE", func(r *rig) (Rollout, weir.ID) {
		p := twoStages()
		p.Stages = p.Stages[:1]
		x := r.started(p)
		l := r.claim("test/a/1")
		r.done(l)
		r.done(r.claim("test/a/2"))
		r.state(x.ID, StateDone)
		return x, l.task
	}},
	{"failed (ended), task FAILED", func(r *rig) (Rollout, weir.ID) {
		p := twoStages()
		p.Stages, p.Changes, p.Parallel = p.Stages[:1], p.Changes[:1], 1
		x := r.started(p)
		l := r.claim("test/a/1")
		r.fail(l, "sql")
		r.state(x.ID, StateFailed)
		return x, l.task
	}},
	{"canceled (being aborted), task RUNNING", func(r *rig) (Rollout, weir.ID) {
		x := r.started(twoStages())
		l := r.claim("test/a/1")
		r.brief(l)
		r.must(r.store.Abort(r.Context(), "bob", x.ID, "wrong"))
		return x, l.task
	}},
	{"canceled (aborted), task FAILED", func(r *rig) (Rollout, weir.ID) {
		x := r.started(twoStages())
		l := r.claim("test/a/1")
		r.fail(l, "sql")
		r.must(r.store.Abort(r.Context(), "bob", x.ID, "wrong"))
		r.state(x.ID, StateCanceled)
		return x, l.task
	}},
	{"canceled (aborted), task CANCELED", func(r *rig) (Rollout, weir.ID) {
		x := r.started(twoStages())
		r.must(r.store.Abort(r.Context(), "bob", x.ID, "wrong"))
		return x, r.task(x.ID, "test/a/1").ID
	}},
	{"canceled (replaced), task CANCELED", func(r *rig) (Rollout, weir.ID) {
		x := r.create(twoStages())
		p := twoStages()
		p.Parallel = 2
		if _, err := r.store.Replace(r.Context(), "ann", x.ID, p); err != nil {
			r.Fatal(err)
		}
		return x, r.task(x.ID, "test/a/1").ID
	}},
}

// cell is a command as the table calls it.
type cell struct {
	name string
	call func(ctx context.Context, tx pgx.Tx, id, task weir.ID) (Answer, error)
}

func cells(t *testing.T) []cell {
	p := twoStages()
	p.Parallel = 5
	p, err := p.read()
	if err != nil {
		t.Fatal(err)
	}
	plan, texts, err := p.asked()
	if err != nil {
		t.Fatal(err)
	}
	about := func(sql string, args ...any) func(context.Context, pgx.Tx, weir.ID, weir.ID) (Answer, error) {
		return func(ctx context.Context, tx pgx.Tx, id, _ weir.ID) (Answer, error) {
			return command(ctx, tx, "command", sql, id, "bob", args...)
		}
	}
	task := func(sql string, args ...any) func(context.Context, pgx.Tx, weir.ID, weir.ID) (Answer, error) {
		return func(ctx context.Context, tx pgx.Tx, _, task weir.ID) (Answer, error) {
			return command(ctx, tx, "command", sql, task, "bob", args...)
		}
	}
	return []cell{
		{"start", about(startSQL)},
		{"pause", about(pauseSQL, "")},
		{"resume", about(resumeSQL)},
		{"abort", about(abortSQL, "")},
		{"approve", about(approveSQL, "prod", "")},
		{"revoke", about(revokeSQL, "prod")},
		{"promote", about(promoteSQL, "prod")},
		{"replace", func(ctx context.Context, tx pgx.Tx, id, _ weir.ID) (a Answer, err error) {
			err = tx.QueryRow(ctx, `select true, 'replaced' from weir.rollout_create($1, $2, replaces => $3, by => 'bob')`, plan, texts, id).Scan(&a.Changed, &a.Text)
			return a, err
		}},
		{"retry", task(retrySQL)},
		{"skip", task(skipSQL, "no need")},
		{"cancel", task(cancelSQL, "")},
		{"applied", task(resolveSQL, true, "seen")},
		{"not_applied", task(resolveSQL, false, "seen")},
	}
}

// digest is all that commands change, so that a cell cannot say one thing and do
// another.
const digest = `select md5(concat((select r::text from weir.rollouts r where r.job = $1), (select string_agg(s::text, ',' order by n) from weir.rollout_stages s where s.rollout = $1),
	(select string_agg(a::text, ',' order by stage, by) from weir.rollout_approvals a where a.rollout = $1),
	(select string_agg(concat(t.key, t.status, t.stopping, t.code), ',' order by t.n) from weir.rollout_task t where t.rollout = $1)))`

var anID = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}`)

// legend numbers what cells say.
type legend struct{ texts []string }

func (l *legend) number(text string) int {
	text = anID.ReplaceAllString(text, "ID")
	i := slices.Index(l.texts, text)
	if i < 0 {
		i = len(l.texts)
		l.texts = append(l.texts, text)
	}
	return i + 1
}

// try runs a command in a savepoint and gives its cell. What was refused is undone.
func (c cell) try(t *testing.T, tx pgx.Tx, id, task weir.ID, l *legend) (shown string, changed bool) {
	t.Helper()
	var was, is string
	look := func(into *string) {
		if err := tx.QueryRow(t.Context(), digest, id).Scan(into); err != nil {
			t.Fatal(err)
		}
	}
	look(&was)
	point, err := tx.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	a, err := c.call(t.Context(), point, id, task)
	if err != nil {
		var refusal *pgconn.PgError
		if !errors.As(err, &refusal) || !strings.HasPrefix(refusal.Code, "WR4") || refusal.Message == "" || refusal.Hint == "" {
			t.Errorf("%s: not a refusal with a reason and advice: %v", c.name, err)
		} else {
			shown = fmt.Sprintf("no %d", l.number(refusal.Message+" — "+refusal.Hint))
		}
		if err := point.Rollback(t.Context()); err != nil {
			t.Fatal(err)
		}
		return shown, false
	}
	if err := point.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	look(&is)
	switch {
	case a.Text == "":
		t.Errorf("%s says nothing", c.name)
	case a.Changed == (was == is):
		t.Errorf("%s says %q (changed: %v), and what is there says otherwise", c.name, a.Text, a.Changed)
	}
	if !a.Changed {
		return fmt.Sprintf("same %d", l.number(a.Text)), false
	}
	return "yes", true
}

// table writes the cells of a scene: every command, and every one after every other
// that did something.
func (s scene) table(t *testing.T, out *strings.Builder, all []cell, notes *legend) {
	r := newRig(t)
	r.register("test", "a", "b")
	x, task := s.make(r)
	pair := func(first *cell, second cell) string {
		tx, err := r.db.Pool.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer tx.Rollback(context.Background()) //nolint:errcheck // the cell leaves nothing behind
		if first != nil {
			if _, did := first.try(t, tx, x.ID, task, notes); !did {
				return ""
			}
		}
		shown, _ := second.try(t, tx, x.ID, task, notes)
		return shown
	}
	row := func(first *cell) {
		name := ""
		if first != nil {
			name = first.name
		}
		line := fmt.Sprintf("%-12s", name)
		for _, second := range all {
			shown := pair(first, second)
			if shown == "" {
				return
			}
			line += fmt.Sprintf(" %-11s", shown)
		}
		out.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	fmt.Fprintf(out, "\n## %s\n%-12s", s.name, "")
	for _, c := range all {
		fmt.Fprintf(out, " %-11s", c.name)
	}
	out.WriteString("\n")
	row(nil)
	for i := range all {
		row(&all[i])
	}
}

// Every command in every state, and every command after every other: carried out,
// nothing to do and says so, or refused with a reason and advice. Never ignored.
func TestEveryCommandInEveryState(t *testing.T) {
	var out strings.Builder
	all := cells(t)
	notes := &legend{}
	out.WriteString("Rows: the command before, if it did something. yes: carried out; same N: there was nothing to do; no N: refused.\n")
	for _, s := range scenes {
		t.Run(s.name, func(t *testing.T) { s.table(t, &out, all, notes) })
	}
	out.WriteString("\n## What they say\n")
	for i, text := range notes.texts {
		fmt.Fprintf(&out, "%d. %s\n", i+1, text)
	}
	golden(t, "commands.txt", out.String())
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *rewrite {
		if err := os.MkdirAll("testdata", 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s is not what it was; look at it with -rewrite and git diff. It is now:\n%s", path, got)
	}
}

// Five clicks at the same moment have one effect.
func TestClicksAtOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.register("test", "a", "b")
	const clicks = 5
	storm := func(what string, click func() (Answer, error)) {
		t.Helper()
		answers := make([]Answer, clicks)
		errs := make([]error, clicks)
		var wait sync.WaitGroup
		for i := range clicks {
			wait.Go(func() { answers[i], errs[i] = click() })
		}
		wait.Wait()
		did := 0
		for i := range clicks {
			if errs[i] != nil {
				t.Errorf("%s: %v", what, errs[i])
			}
			if answers[i].Changed {
				did++
			} else if answers[i].Text == "" {
				t.Errorf("%s: a click was ignored", what)
			}
		}
		if did != 1 {
			t.Errorf("%s: %d of %d clicks did something", what, did, clicks)
		}
	}
	p := twoStages()
	x := r.create(p)
	storm("approve", func() (Answer, error) { return r.store.Approve(t.Context(), "bob", x.ID, "prod", "") })
	storm("start", func() (Answer, error) { return r.store.Start(t.Context(), "ann", x.ID) })
	storm("pause", func() (Answer, error) { return r.store.Pause(t.Context(), "ann", x.ID, "") })
	storm("resume", func() (Answer, error) { return r.store.Resume(t.Context(), "ann", x.ID) })
	l := r.claim("test/a/1")
	r.fail(l, "sql")
	storm("retry", func() (Answer, error) { return r.store.Retry(t.Context(), "ann", l.task) })
	var attempts int
	r.scan(&attempts, `select count(*) from weir.events where task = $1 and type = 'retried'`, l.task)
	if attempts != 1 {
		t.Errorf("%d retries", attempts)
	}
	again := r.claim("test/a/1")
	if again.attempt != 2 {
		t.Errorf("attempt %d", again.attempt)
	}
	storm("cancel", func() (Answer, error) { return r.store.Cancel(t.Context(), "ann", l.task, "") })
	r.exec(`select weir.confirm_cancel($1, $2, $3)`, again.task, again.attempt, again.token)
	storm("skip", func() (Answer, error) { return r.store.Skip(t.Context(), "ann", l.task, "not needed") })
	r.done(r.claim("test/a/2"))
	r.open()
	storm("promote", func() (Answer, error) { return r.store.Promote(t.Context(), "ann", x.ID, "prod") })
	storm("abort", func() (Answer, error) { return r.store.Abort(t.Context(), "ann", x.ID, "") })
	body, _ := json.Marshal(r.state(x.ID, StateCanceled))
	if !strings.Contains(string(body), `"aborted_by":"ann"`) {
		t.Errorf("%s", body)
	}
}
