// Sdk does the steps of sdk.yaml in this process, until Ctrl-C.
//
//	WEIR_DATABASE_URL=postgres://… go run ./examples/workflows/sdk
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"os/signal"
	"syscall"

	"github.com/weirhq/weir"
)

// Order is the params of the step price: those of the job.
type Order struct {
	Items []string `json:"items"`
}

// Bill is the result of price and the params of charge.
type Bill struct {
	Cents int `json:"cents"`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Getenv("WEIR_DATABASE_URL")); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, url string) error {
	client, err := weir.Open(ctx, url, nil)
	if err != nil {
		return err
	}
	defer client.Close()
	worker := weir.NewWorker(client, weir.WorkerConfig{Concurrency: 4})
	weir.Handle(worker, "shop.price", price)
	weir.Handle(worker, "shop.charge", charge)
	fmt.Println("serving shop.price and shop.charge")
	return worker.Run(ctx)
}

func price(_ context.Context, run *weir.Run[Order]) (any, error) {
	return Bill{Cents: 250 * len(run.Args.Items)}, nil
}

// charge may run twice if this machine dies in between, so a real one gives the
// task's id to whoever takes the money.
func charge(_ context.Context, run *weir.Run[Bill]) (any, error) {
	run.Progress(50, "asking the bank")
	return fmt.Sprintf("charged %d.%02d", run.Args.Cents/100, run.Args.Cents%100), nil
}
