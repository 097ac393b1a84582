// Go-workflow runs a job of four tasks: two builds, a test that needs both, and
// a report that is written however the test ends. One build waits for a pool.
//
//	WEIR_DATABASE_URL=postgres://… go run ./examples/go-workflow
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/weirhq/weir"
)

func main() {
	if err := run(context.Background(), os.Getenv("WEIR_DATABASE_URL")); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, url string) error {
	client, err := weir.Open(ctx, url, nil)
	if err != nil {
		return err
	}
	defer client.Close()
	if err := client.SetPool(ctx, weir.Pool{Name: "compilers", Size: weir.Size(1)}); err != nil {
		return err
	}

	worker := weir.NewWorker(client, weir.WorkerConfig{})
	weir.Handle(worker, "build", func(_ context.Context, run *weir.Run[string]) (any, error) { return "built " + run.Args, nil })
	weir.Handle(worker, "test", func(context.Context, *weir.Run[struct{}]) (any, error) {
		return nil, weir.Permanent(errors.New("2 of 90 tests failed"))
	})
	weir.Handle(worker, "report", func(context.Context, *weir.Run[struct{}]) (any, error) { return "written", nil })
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- worker.Run(ctx) }()

	tail, err := client.Tail(ctx)
	if err != nil {
		return err
	}
	job, err := client.SubmitJob(ctx, weir.Job{Name: "nightly", Tasks: []weir.Task{
		{Key: "server", Service: "build", Params: "server", Pool: "compilers"},
		{Key: "client", Service: "build", Params: "client", Pool: "compilers"},
		{Key: "test", Service: "test", Needs: []string{"server", "client"}},
		{Key: "deploy", Service: "build", Params: "image", Needs: []string{"test"}},
		{Key: "report", Service: "report", Needs: []string{"test", "deploy"}, Rule: weir.AllDone},
	}})
	if err != nil {
		return err
	}
	over := errors.New("the job is over")
	err = client.Follow(ctx, tail, weir.Filter{Job: job}, func(e weir.Event) error {
		fmt.Println(e.Kind, e.Type, e.Message)
		if e.Kind == "job" && weir.State(e.Type).Ended() {
			return over
		}
		return nil
	})
	if !errors.Is(err, over) {
		return err
	}
	info, err := client.Job(ctx, job)
	if err != nil {
		return err
	}
	fmt.Printf("%s: %d done, %d failed, %d skipped (%s)\n", info.State, info.Done, info.Failed, info.Skipped, info.Cause)
	stop()
	return <-ended
}
