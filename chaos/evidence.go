package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Evidence is everything that a run leaves behind: the records of the database and those
// of the clients.
type Evidence struct {
	Tasks   map[string]*Task
	Events  []Event
	Moves   map[Move]string // what an event makes of a state
	Workers map[int]string
	Jobs    map[string]string // id by idempotency key
	Writes  []LeaderWrite
	History []Op
	// Drained is set if the run waited for the end of all work.
	Drained bool
	// Silent workers keep no history: their moves are taken from the timeline.
	Silent map[string]bool
}

// Move is a step of the state machine; Was is empty for a new task.
type Move struct{ Was, Event string }

// Task is a row of weir.tasks with the state that the tables give it.
type Task struct {
	ID, Key, State string
	Attempt        int
	Result         *result
	Passes         bool
	Lane, Pool     string
	Rank           *int64
	Exclusive      bool
	RunAt          *time.Time
	Needs          []string
	Rule           string
	Rollout        string // the rollout it belongs to
}

// Event is one task's line of the timeline, or a line about something else.
type Event struct {
	Seq, Xid      int64
	At            time.Time
	Type          string
	Kind, Subject string
	Task          string
	Attempt       int
	Worker        int
	Message       string
	Data          map[string]any
}

// LeaderWrite is a row of chaos.leader_writes.
type LeaderWrite struct {
	Seq, Epoch int64
	Holder     string
}

// Collect reads the evidence in one snapshot.
func Collect(ctx context.Context, pool *pgxpool.Pool, history []Op) (*Evidence, error) {
	e := &Evidence{Tasks: map[string]*Task{}, Moves: map[Move]string{}, Workers: map[int]string{}, Jobs: map[string]string{}, History: history, Silent: map[string]bool{}}
	err := pgx.BeginTxFunc(ctx, pool, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		for _, read := range []func(context.Context, pgx.Tx) error{e.readTasks, e.readEvents, e.readMoves, e.readWorkers, e.readJobs, e.readWrites} {
			if err := read(ctx, tx); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("collect the evidence: %w", err)
	}
	return e, nil
}

func (e *Evidence) readTasks(ctx context.Context, tx pgx.Tx) error {
	rows, err := tx.Query(ctx, `
		select t.id::text, coalesce(k.key, ''), coalesce(t.state::text, 'nowhere'), t.attempt, t.result, coalesce(f.passes, false), coalesce(q.lane, ''), coalesce(q.pool, ''),
			q.rank, coalesce(q.exclusive, false), q.run_at, coalesce(q.needs::text[], '{}'), coalesce(q.rule::text, ''), coalesce((select r.job::text from weir.rollouts r where r.job = q.job), '')
		from weir.task t join weir.tasks q on q.id = t.id left join weir.idempotency k on k.id = t.id and not k.job left join weir.finished f on f.task = t.id`)
	if err != nil {
		return err
	}
	_, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (struct{}, error) {
		t := &Task{}
		var text []byte
		err := row.Scan(&t.ID, &t.Key, &t.State, &t.Attempt, &text, &t.Passes, &t.Lane, &t.Pool, &t.Rank, &t.Exclusive, &t.RunAt, &t.Needs, &t.Rule, &t.Rollout)
		if err == nil && text != nil && (json.Unmarshal(text, &t.Result) != nil || t.Result != nil && t.Result.Token == "") {
			t.Result = nil // not written by an agent of this package
		}
		e.Tasks[t.ID] = t
		return struct{}{}, err
	})
	return err
}

func (e *Evidence) readEvents(ctx context.Context, tx pgx.Tx) error {
	rows, err := tx.Query(ctx, `
		select e.seq, e.xid, e.at, e.type, coalesce(e.kind, ''), coalesce(e.subject, ''), coalesce(u.task::text, ''), coalesce(e.attempt, 0), coalesce(e.worker, 0),
			coalesce(e.message, ''), e.data
		from weir.events e left join lateral unnest(coalesce(e.tasks, array[e.task])) u (task) on true order by e.seq`)
	if err != nil {
		return err
	}
	e.Events, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (v Event, err error) {
		return v, row.Scan(&v.Seq, &v.Xid, &v.At, &v.Type, &v.Kind, &v.Subject, &v.Task, &v.Attempt, &v.Worker, &v.Message, &v.Data)
	})
	return err
}

func (e *Evidence) readMoves(ctx context.Context, tx pgx.Tx) error {
	rows, err := tx.Query(ctx, `select coalesce(was::text, ''), event, becomes::text from weir.transition`)
	if err != nil {
		return err
	}
	var m Move
	var becomes string
	_, err = pgx.ForEachRow(rows, []any{&m.Was, &m.Event, &becomes}, func() error { e.Moves[m] = becomes; return nil })
	return err
}

func (e *Evidence) readWorkers(ctx context.Context, tx pgx.Tx) error {
	rows, err := tx.Query(ctx, `select id, name from weir.workers`)
	if err != nil {
		return err
	}
	var id int
	var name string
	_, err = pgx.ForEachRow(rows, []any{&id, &name}, func() error { e.Workers[id] = name; return nil })
	return err
}

func (e *Evidence) readJobs(ctx context.Context, tx pgx.Tx) error {
	rows, err := tx.Query(ctx, `select k.key, j.id::text from weir.idempotency k join weir.jobs j on j.id = k.id where k.job`)
	if err != nil {
		return err
	}
	var key, id string
	_, err = pgx.ForEachRow(rows, []any{&key, &id}, func() error { e.Jobs[key] = id; return nil })
	return err
}

// readWrites finds nothing in a run without leaders.
func (e *Evidence) readWrites(ctx context.Context, tx pgx.Tx) error {
	var exists bool
	if err := tx.QueryRow(ctx, `select to_regclass('chaos.leader_writes') is not null`).Scan(&exists); err != nil || !exists {
		return err
	}
	rows, err := tx.Query(ctx, `select seq, epoch, holder from chaos.leader_writes order by seq`)
	if err != nil {
		return err
	}
	e.Writes, err = pgx.CollectRows(rows, pgx.RowToStructByPos[LeaderWrite])
	return err
}
