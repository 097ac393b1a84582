//go:build unix

package chaos

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"os"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir"
)

// runSDK runs an agent that uses the SDK's worker. Its calls are not recorded, but what
// it runs is.
func runSDK(ctx context.Context, o Orders, pool *pgxpool.Pool, log Log) error {
	listen, err := url.Parse(o.URL)
	if err != nil {
		return err
	}
	if !o.Listen {
		listen.Host = "127.0.0.1:1" // nothing listens there
	}
	query := listen.Query()
	query.Set("application_name", listenName)
	listen.RawQuery = query.Encode()
	client, err := weir.New(pool, &weir.Config{Logger: slog.New(slog.DiscardHandler), ListenURL: listen.String()})
	if err != nil {
		return err
	}
	defer client.Close()
	worker := weir.NewWorker(client, weir.WorkerConfig{Name: o.Name, Concurrency: o.Slots, Lease: o.Lease, Grace: time.Second})
	for _, service := range o.Services {
		weir.Handle(worker, service, func(ctx context.Context, run *weir.Run[Params]) (any, error) {
			me := Item{Task: run.ID.String(), Attempt: run.Attempt, Token: run.Token.String()}
			log.End(log.Begin(Call{Op: "run", Items: []Item{me}}), Reply{Out: OK})
			if run.Args.Poison {
				_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			}
			if !pause(ctx, time.Duration(run.Args.WorkMS)*time.Millisecond) {
				return nil, context.Cause(ctx)
			}
			if run.Attempt <= run.Args.Fails {
				return nil, errors.New("chaos wants it to fail")
			}
			return result{me.Attempt, me.Token}, nil
		})
	}
	return worker.Run(ctx)
}
