package node

import (
	"bytes"
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir/internal/blame"
	"github.com/weirhq/weir/internal/blob"
	"github.com/weirhq/weir/internal/blob/joblog"
)

// Told is what an agent reports at one moment about its attempts. Starts and notes go before
// ends.
type Told struct {
	// Starts are attempts whose work has started.
	Starts []Start
	Notes  []Note
	// Logs are small pieces of logs, which leave no event.
	Logs []LogPiece
	Ends []Outcome
}

// Start is an attempt whose work has started, and the length of its lease from now.
type Start struct {
	Lease
	Length time.Duration
}

// LogPiece is a piece of the log of an attempt.
type LogPiece struct {
	Lease
	LogChunk
}

// The answers about a piece of a log, besides [LeaseLost].
const (
	// LogKept means that the piece is stored, LogRefused that no log is kept here, and
	// LogFailed that it should be sent again.
	LogKept, LogRefused, LogFailed = "kept", "no_bucket", "failed"
)

// Heard is the answer to a report: what was refused of starts and ends, and what became of
// each piece of a log.
type Heard struct {
	Refused []Refusal
	Logs    []string
}

// Report does what Start, Record, AppendLog and End do, with one transaction for everything
// but the ends, which are gathered with those of other nodes. A note that the database
// refuses is left out. An error means that the ends are not written; to repeat the call
// does no harm.
func (d *Desk) Report(ctx context.Context, told Told) (heard Heard, err error) {
	places, refused, err := d.tell(ctx, told)
	if err != nil && blame.Of(err) == blame.Value {
		// One value is bad, and nothing was written: each part by itself.
		places, refused, err = d.tellSingly(ctx, told)
	}
	if err != nil {
		return heard, wrap("report", err)
	}
	heard.Refused = refused
	for i, piece := range told.Logs {
		heard.Logs = append(heard.Logs, d.keepPiece(ctx, piece, places[i]))
	}
	if len(told.Ends) > 0 {
		refused, err := d.End(ctx, told.Ends)
		if heard.Refused = append(heard.Refused, refused...); err != nil {
			return heard, err
		}
	}
	return heard, nil
}

// tell writes starts and notes, and looks up the leases of logs, in one transaction. A piece
// without a lease has no place.
func (d *Desk) tell(ctx context.Context, told Told) (places []*leased, refused []Refusal, err error) {
	if len(told.Starts)+len(told.Notes)+len(told.Logs) == 0 {
		return nil, nil, nil
	}
	batch := &pgx.Batch{}
	d.queueStarts(batch, told.Starts, &refused)
	if len(told.Notes) > 0 {
		sql, args := d.notes(told.Notes)
		batch.Queue(sql, args...) // a note of a lost lease is of no use, and the end is refused as well
	}
	places = make([]*leased, len(told.Logs))
	if len(told.Logs) > 0 {
		d.queuePlaces(batch, told.Logs, places)
	}
	err = d.pool.SendBatch(ctx, batch).Close()
	return places, refused, err
}

// queuePlaces queues a statement that finds where pieces of logs are stored.
func (d *Desk) queuePlaces(batch *pgx.Batch, pieces []LogPiece, places []*leased) {
	leases := make([]Lease, len(pieces))
	for i, piece := range pieces {
		leases[i] = piece.Lease
	}
	tasks, attempts, tokens := columns(leases)
	const sql = `select l.task, l.attempt, l.job, coalesce(l.key, '') from weir.leased_many($1, $2, $3, $4) l`
	batch.Queue(sql, d.node, tasks, attempts, tokens).Query(func(rows pgx.Rows) error {
		var of Lease
		var l leased
		_, err := pgx.ForEachRow(rows, []any{&of.Task, &of.Attempt, &l.job, &l.key}, func() error {
			for i, piece := range pieces {
				if piece.Task == of.Task && piece.Attempt == of.Attempt {
					places[i] = &leased{job: l.job, key: l.key, task: of.Task.String()}
				}
			}
			return nil
		})
		return err
	})
}

// queueStarts queues a statement for the starts of each length.
func (d *Desk) queueStarts(batch *pgx.Batch, starts []Start, refused *[]Refusal) {
	byLength := map[time.Duration][]Lease{}
	for _, s := range starts {
		byLength[s.Length] = append(byLength[s.Length], s.Lease)
	}
	for length, leases := range byLength {
		tasks, attempts, tokens := columns(leases)
		sql, args := startSQL(d.worker, length)
		batch.Queue(sql, append([]any{tasks, attempts, tokens, own(d.node, len(leases))}, args...)...).Query(func(rows pgx.Rows) error {
			more, err := refusals(rows)
			*refused = append(*refused, more...)
			return err
		})
	}
}

// tellSingly does what tell does, part by part, because one of them holds a value that the
// database refuses.
func (d *Desk) tellSingly(ctx context.Context, told Told) (places []*leased, refused []Refusal, err error) {
	for _, s := range told.Starts {
		more, err := d.Start(ctx, []Lease{s.Lease}, s.Length)
		if err != nil && blame.Of(err) != blame.Value {
			return nil, nil, err
		}
		refused = append(refused, more...)
	}
	if _, err := d.Record(ctx, told.Notes); err != nil {
		if blame.Of(err) != blame.Value {
			return nil, nil, err
		}
		d.log.Warn("a note was left out", "error", err)
	}
	places, _, err = d.tell(ctx, Told{Logs: told.Logs})
	return places, refused, err
}

// keepPiece stores a piece of a log.
func (d *Desk) keepPiece(ctx context.Context, piece LogPiece, place *leased) string {
	switch {
	case d.bucket == nil:
		return LogRefused
	case place == nil:
		return LeaseLost
	}
	job, task := place.place()
	if err := d.putLog(ctx, job, task, piece.Lease, piece.LogChunk); err != nil {
		d.log.Warn("a piece of a log was not kept", "task", piece.Task, "attempt", piece.Attempt, "error", err)
		return LogFailed
	}
	return LogKept
}

// putLog stores a piece of a log, and makes room for it before the first.
func (d *Desk) putLog(ctx context.Context, job, task string, lease Lease, chunk LogChunk) error {
	if chunk.Seq == 0 && lease.Attempt > 1 {
		if err := d.makeRoom(ctx, job, task, lease.Attempt); err != nil {
			d.log.Warn("the logs of earlier attempts were not looked at", "task", lease.Task, "error", err)
		}
	}
	packed := joblog.Pack(chunk.Lines)
	_, err := d.bucket.Put(ctx, blob.LogKey(job, task, lease.Attempt, chunk.Seq), bytes.NewReader(packed), int64(len(packed)), "application/x-ndjson")
	return wrap("keep the log", err)
}
