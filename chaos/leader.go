//go:build unix

package chaos

import (
	"context"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir/internal/coordinator"
	"github.com/weirhq/weir/internal/loop"
)

// leaderLock is the term that leader agents compete for.
const leaderLock = "chaos"

// leaderTable records the writes of leaders. Its number is drawn while the term's row is
// locked (weir.fenced), so it is the order of the writes.
const leaderTable = `create schema chaos; create table chaos.leader_writes (seq bigserial primary key, epoch bigint not null, holder text not null)`

// lead runs a leader: it asks for the term, and writes while it believes that it has the
// term.
func (a *agent) lead(ctx context.Context) {
	var epoch int64
	var asked time.Time
	for pause(ctx, 20*time.Millisecond) {
		if time.Since(asked) > a.Lease/3 {
			asked = time.Now()
			epoch = a.askForTerm(ctx)
		}
		if epoch > 0 && a.writeAsLeader(ctx, epoch) != OK {
			epoch = 0
		}
	}
}

func (a *agent) askForTerm(ctx context.Context) (epoch int64) {
	_, _, err := a.client.do(ctx, Call{Op: "lead"}, func(ctx context.Context) ([]Item, error) {
		err := a.client.Pool.QueryRow(ctx, `select coalesce(weir.lead($1, $2, $3), 0)`, leaderLock, a.Name, a.Lease).Scan(&epoch)
		return []Item{{Attempt: int(epoch), Value: "ok"}}, err
	})
	if err != nil {
		return 0
	}
	return epoch
}

func (a *agent) writeAsLeader(ctx context.Context, epoch int64) Outcome {
	_, out, _ := a.client.do(ctx, Call{Op: "lead_write", Key: strconv.FormatInt(epoch, 10)}, func(ctx context.Context) ([]Item, error) {
		return nil, pgx.BeginFunc(ctx, a.client.Pool, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, `select weir.fenced($1, $2)`, leaderLock, epoch); err != nil {
				return err
			}
			_, err := tx.Exec(ctx, `insert into chaos.leader_writes (epoch, holder) values ($1, $2)`, epoch, a.Name)
			return err
		})
	})
	return out
}

// coordinate runs a leader that uses the product's coordinator. It can be paused before
// its write, and inside the transaction (lead_hold).
func (a *agent) coordinate(ctx context.Context) {
	write := func(term *coordinator.Term) loop.Tick {
		return func(ctx context.Context, _ time.Time) (bool, error) {
			_, _, err := a.client.do(ctx, Call{Op: "lead_write", Key: strconv.FormatInt(term.Epoch(), 10)}, func(ctx context.Context) ([]Item, error) {
				return nil, term.Tx(ctx, a.client.Pool, func(tx pgx.Tx) error {
					a.client.Log.End(a.client.Log.Begin(Call{Op: "lead_hold"}), Reply{Out: OK})
					_, err := tx.Exec(ctx, `insert into chaos.leader_writes (epoch, holder) values ($1, $2)`, term.Epoch(), a.Name)
					return err
				})
			})
			return false, err
		}
	}
	coordinator.New(coordinator.Config{
		Pool: a.client.Pool, TTL: a.Lease, Holder: a.Name,
		Loops: func(term *coordinator.Term) []loop.Loop {
			return []loop.Loop{{Name: "write", Every: 20 * time.Millisecond, Tick: write(term)}}
		},
	}).Run(ctx)
}
