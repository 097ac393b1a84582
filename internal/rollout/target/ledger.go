package target

import (
	"context"
	"strconv"
	"strings"
	"time"
)

// Entry is a change that is applied: a row of weir_history.
type Entry struct {
	Version    string    `json:"version,omitempty"`
	Name       string    `json:"name"`
	Kind       string    `json:"kind"`
	Checksum   string    `json:"checksum,omitempty"`
	Rollout    string    `json:"rollout,omitempty"`
	Task       string    `json:"task,omitempty"`
	Attempt    int       `json:"attempt,omitempty"`
	AppliedAt  time.Time `json:"applied_at"`
	TookMS     int64     `json:"took_ms"`
	By         string    `json:"by"`
	Note       string    `json:"note,omitempty"`
	Statements int       `json:"statements"`
}

// mark is a row of weir_steps: how far a step is that no history row covers.
type mark struct {
	attempt int
	hash    string
	state   string
	// seen is what was there before the step began: a presence, or the
	// fingerprint of the schema.
	seen string
}

// The states of a mark.
const (
	stepStarted = "started"
	stepDone    = "done"
	stepFailed  = "failed" // the server said no
)

// wire sends the statements of the ledger. Both engines understand the same
// text: the ledger uses nothing that only one of them has.
type wire interface {
	exec(ctx context.Context, text string, args ...any) (int64, error)
	query(ctx context.Context, text string, args []any, row func(scan func(into ...any) error) error) error
	// exists tells whether the target has the ledger's tables.
	exists(ctx context.Context) (bool, error)
}

// ledger is Weir's bookkeeping in the target. Every name in it is qualified: a
// change may move the session to another schema.
type ledger struct {
	wire
	// schema is quoted, now is the engine's clock in UTC.
	schema, now string
	// numbered: arguments are $1, not ?.
	numbered bool
	// seen: the tables are there, and the session need not ask again.
	seen bool
}

// there tells whether the target has the tables.
func (l *ledger) there(ctx context.Context) (bool, error) {
	if l.seen {
		return true, nil
	}
	is, err := l.exists(ctx)
	l.seen = is && err == nil
	return l.seen, err
}

// text is a statement for this engine.
func (l *ledger) text(s string) string {
	s = strings.NewReplacer("{s}", l.schema, "{now}", l.now).Replace(s)
	if !l.numbered {
		return s
	}
	var b strings.Builder
	n := 0
	for _, r := range s {
		if r != '?' {
			b.WriteRune(r)
			continue
		}
		n++
		b.WriteByte('$')
		b.WriteString(strconv.Itoa(n))
	}
	return b.String()
}

func (l *ledger) do(ctx context.Context, s string, args ...any) (int64, error) {
	return l.exec(ctx, l.text(s), args...)
}

// history is what is applied, newest first.
func (l *ledger) history(ctx context.Context) ([]Entry, error) {
	if ok, err := l.there(ctx); !ok || err != nil {
		return nil, err
	}
	var list []Entry
	err := l.query(ctx, l.text(`
		select coalesce(version, ''), name, kind, checksum, coalesce(rollout, ''), coalesce(task, ''), attempt, applied_at, duration_ms, applied_by, note, statements
		from {s}.weir_history order by id desc`), nil, func(scan func(...any) error) error {
		var e Entry
		if err := scan(&e.Version, &e.Name, &e.Kind, &e.Checksum, &e.Rollout, &e.Task, &e.Attempt, &e.AppliedAt, &e.TookMS, &e.By, &e.Note, &e.Statements); err != nil {
			return err
		}
		list = append(list, e)
		return nil
	})
	return list, err
}

// record writes the history row. Its unique version and task are what keeps a
// change from being applied twice, whatever else goes wrong.
func (l *ledger) record(ctx context.Context, e Entry) error {
	_, err := l.do(ctx, `
		insert into {s}.weir_history (version, name, kind, checksum, rollout, task, attempt, applied_at, duration_ms, applied_by, note, statements)
		values (?, ?, ?, ?, ?, ?, ?, {now}, ?, ?, ?, ?)`,
		null(e.Version), e.Name, e.Kind, e.Checksum, null(e.Rollout), null(e.Task), e.Attempt, e.TookMS, e.By, e.Note, e.Statements)
	return err
}

// marks are those of one change, by step.
func (l *ledger) marks(ctx context.Context, key string) (map[int]mark, error) {
	marks := map[int]mark{}
	if ok, err := l.there(ctx); !ok || err != nil {
		return marks, err
	}
	err := l.query(ctx, l.text(`select step, attempt, hash, state, seen from {s}.weir_steps where script = ?`), []any{key}, func(scan func(...any) error) error {
		var step int
		var m mark
		if err := scan(&step, &m.attempt, &m.hash, &m.state, &m.seen); err != nil {
			return err
		}
		marks[step] = m
		return nil
	})
	return marks, err
}

// mark replaces the mark of a step.
func (l *ledger) mark(ctx context.Context, run Run, step int, m mark) error {
	if _, err := l.do(ctx, `delete from {s}.weir_steps where script = ? and step = ?`, run.progressKey(), step); err != nil {
		return err
	}
	_, err := l.do(ctx, `insert into {s}.weir_steps (script, step, task, attempt, hash, state, seen, at) values (?, ?, ?, ?, ?, ?, ?, {now})`,
		run.progressKey(), step, run.Task, run.Attempt, m.hash, m.state, m.seen)
	return err
}

// clear removes the marks of a change: from here on its history row speaks.
func (l *ledger) clear(ctx context.Context, run Run) error {
	_, err := l.do(ctx, `delete from {s}.weir_steps where script = ?`, run.progressKey())
	return err
}

// forget removes the marks of steps that began and did not end.
func (l *ledger) forget(ctx context.Context, run Run) error {
	_, err := l.do(ctx, `delete from {s}.weir_steps where script = ? and state = ?`, run.progressKey(), stepStarted)
	return err
}

// fence is the newest attempt of a task that was let in, and its token. The row
// is locked until the transaction ends, so nobody passes in between.
func (l *ledger) fence(ctx context.Context, task string) (attempt int, token string, err error) {
	err = l.query(ctx, l.text(`select attempt, token from {s}.weir_fence where task = ? for update`), []any{task}, func(scan func(...any) error) error {
		return scan(&attempt, &token)
	})
	return attempt, token, err
}

// raise puts the fence of a task up to this attempt. Fence must have been asked
// in the same transaction, and was is what it said.
func (l *ledger) raise(ctx context.Context, run Run, was int) error {
	if was == 0 {
		_, err := l.do(ctx, `insert into {s}.weir_fence (task, attempt, token, at) values (?, ?, ?, {now})`, run.Task, run.Attempt, run.Token)
		return err
	}
	_, err := l.do(ctx, `update {s}.weir_fence set attempt = ?, token = ?, at = {now} where task = ?`, run.Attempt, run.Token, run.Task)
	return err
}

// Took is how long it took to apply.
func (e Entry) Took() time.Duration { return time.Duration(e.TookMS) * time.Millisecond }

// null stores "" as none, so that it is not unique.
func null(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
