// Go-queue submits ten e-mails and sends them with one worker.
//
//	WEIR_DATABASE_URL=postgres://… go run ./examples/go-queue
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/weirhq/weir"
)

// Email is the params of a task.
type Email struct{ To string }

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

	worker := weir.NewWorker(client, weir.WorkerConfig{})
	weir.Handle(worker, "email.send", send, weir.Concurrency(5), weir.Timeout(10*time.Second))
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- worker.Run(ctx) }()

	tasks := make([]weir.Task, 10)
	for i := range tasks {
		// The key makes it safe to run this program twice: nobody gets two.
		to := fmt.Sprintf("user%d@example.org", i)
		tasks[i] = weir.Task{Service: "email.send", Params: Email{To: to}, IdempotencyKey: "welcome:" + to, Backoff: 10 * time.Millisecond}
	}
	receipts, err := client.SubmitMany(ctx, tasks)
	if err != nil {
		return err
	}
	for _, r := range receipts {
		outcome, err := client.Wait(ctx, r.ID)
		if err != nil {
			return err
		}
		fmt.Printf("%s after attempt %d: %s\n", outcome.State, outcome.Attempt, outcome.Result)
	}
	stop()
	return <-ended
}

// send fails at its first attempt for one of the users, to show a retry.
func send(_ context.Context, run *weir.Run[Email]) (any, error) {
	if run.Args.To == "user3@example.org" && run.Attempt == 1 {
		return nil, errors.New("the mail server is busy")
	}
	return "sent to " + run.Args.To, nil
}
