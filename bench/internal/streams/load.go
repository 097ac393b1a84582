package streams

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir"
)

// perTask is how many events a task has: submitted, claimed, done.
const perTask = 3

// work submits tasks one by one at an even rate and works them, for a time.
func work(ctx context.Context, pool *pgxpool.Pool, changes int, length time.Duration) error {
	client, err := weir.New(pool, &weir.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	worker := weir.NewWorker(client, weir.WorkerConfig{Concurrency: 50})
	weir.Handle(worker, "watched", func(context.Context, *weir.Run[struct{}]) (any, error) { return nil, nil }, weir.Concurrency(50))
	ended := make(chan error, 1)
	go func() { ended <- worker.Run(context.WithoutCancel(ctx)) }()
	submitted, err := submit(ctx, client, changes, length)
	if err == nil {
		err = drained(ctx, pool)
	}
	if err := errors.Join(err, worker.Stop(context.WithoutCancel(ctx)), <-ended); err != nil {
		return fmt.Errorf("work %d tasks: %w", submitted, err)
	}
	return nil
}

// submitters is how many goroutines submit at the same time, because a single one waits
// for the disk most of the time.
const submitters = 8

func submit(ctx context.Context, client *weir.Client, changes int, length time.Duration) (n int, err error) {
	start := time.Now()
	var group sync.WaitGroup
	var number atomic.Int64
	failed := make(chan error, submitters)
	for range submitters {
		group.Go(func() {
			for {
				due := start.Add(time.Duration(number.Add(1)) * time.Second * perTask / time.Duration(changes))
				if due.Sub(start) > length {
					return
				}
				time.Sleep(time.Until(due))
				if _, err := client.Submit(ctx, weir.Task{Service: "watched"}); err != nil {
					failed <- err
					return
				}
			}
		})
	}
	group.Wait()
	close(failed)
	return int(number.Load()), <-failed
}

// drained waits until nothing is left to do.
func drained(ctx context.Context, pool *pgxpool.Pool) error {
	for {
		var left bool
		if err := pool.QueryRow(ctx, `select exists (select from weir.available) or exists (select from weir.running)`).Scan(&left); err != nil || !left {
			return err
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// allowFiles raises the limit of open files: each stream needs one here and one in the
// server process.
func allowFiles(streams int) error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return err
	}
	if want := uint64(streams) + 200; limit.Cur < want {
		limit.Cur = want
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
			return fmt.Errorf("%d streams need as many open files, the limit is %d: raise it with ulimit -n: %w", streams, limit.Max, err)
		}
	}
	return nil
}
