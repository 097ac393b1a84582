// Go-outbox writes an order and the task to ship it in one transaction: both
// exist or neither does.
//
//	WEIR_DATABASE_URL=postgres://… go run ./examples/go-outbox
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir"
)

// Order is the params of a task.
type Order struct{ ID int64 }

func main() {
	if err := run(context.Background(), os.Getenv("WEIR_DATABASE_URL")); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, url string) error {
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return err
	}
	defer pool.Close()
	if _, err := pool.Exec(ctx, `create table if not exists example_orders (id bigint generated always as identity primary key, item text not null)`); err != nil {
		return err
	}
	client, err := weir.New(pool, nil)
	if err != nil {
		return err
	}
	defer client.Close()

	worker := weir.NewWorker(client, weir.WorkerConfig{})
	weir.Handle(worker, "order.ship", func(_ context.Context, run *weir.Run[Order]) (any, error) {
		return fmt.Sprintf("order %d shipped", run.Args.ID), nil
	})
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- worker.Run(ctx) }()

	for _, item := range []string{"a book", "", "a lamp"} {
		task, err := order(ctx, pool, client, item)
		if err != nil {
			fmt.Println("refused, nothing written:", err)
			continue
		}
		outcome, err := client.Wait(ctx, task)
		if err != nil {
			return err
		}
		fmt.Printf("%s: %s\n", item, outcome.Result)
	}
	stop()
	return <-ended
}

// order takes an order. The check comes last on purpose: what came before is
// undone, the task included.
func order(ctx context.Context, pool *pgxpool.Pool, client *weir.Client, item string) (task weir.ID, err error) {
	err = pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		var o Order
		if err := tx.QueryRow(ctx, `insert into example_orders (item) values ($1) returning id`, item).Scan(&o.ID); err != nil {
			return err
		}
		receipts, err := client.SubmitTx(ctx, tx, weir.Task{Service: "order.ship", Params: o})
		if err != nil {
			return err
		}
		if item == "" {
			return errors.New("an order needs an item")
		}
		task = receipts[0].ID
		return nil
	})
	return task, err
}
