package weir_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/testdb"
)

// Email is the params of the tasks in these examples.
type Email struct{ To string }

func Example() {
	ctx, url, end := example()
	defer end()

	client, err := weir.Open(ctx, url, nil)
	if err != nil {
		panic(err)
	}
	defer client.Close()

	worker := weir.NewWorker(client, weir.WorkerConfig{Concurrency: 50})
	weir.Handle(worker, "email.send", func(ctx context.Context, run *weir.Run[Email]) (any, error) {
		return "sent to " + run.Args.To, nil
	}, weir.Concurrency(20), weir.Timeout(time.Minute))
	go worker.Run(ctx)
	defer worker.Stop(ctx)

	receipt, err := client.Submit(ctx, weir.Task{Service: "email.send", Params: Email{To: "ann@example.org"}})
	if err != nil {
		panic(err)
	}
	outcome, err := client.Wait(ctx, receipt.ID)
	fmt.Println(outcome.State, string(outcome.Result), err)
	// Output: done "sent to ann@example.org" <nil>
}

func ExampleClient_Submit_twice() {
	ctx, url, end := example()
	defer end()
	client, err := weir.Open(ctx, url, nil)
	if err != nil {
		panic(err)
	}
	defer client.Close()

	task := weir.Task{Service: "email.send", Params: Email{To: "ann@example.org"}, IdempotencyKey: "welcome:ann"}
	first, _ := client.Submit(ctx, task)
	again, _ := client.Submit(ctx, task)
	fmt.Println(again.Existed, again.ID == first.ID)
	// Output: true true
}

func ExampleClient_Why() {
	ctx, url, end := example()
	defer end()
	client, err := weir.Open(ctx, url, nil)
	if err != nil {
		panic(err)
	}
	defer client.Close()

	receipt, err := client.Submit(ctx, weir.Task{Service: "deploy", Hold: "the release manager"})
	if err != nil {
		panic(err)
	}
	reasons, err := client.Why(ctx, receipt.ID)
	for _, r := range reasons {
		fmt.Println(r.Gate, r.Open, r.Text, err)
	}
	// Output: hold false held by the release manager <nil>
}

func ExampleError() {
	ctx, url, end := example()
	defer end()
	client, err := weir.Open(ctx, url, nil)
	if err != nil {
		panic(err)
	}
	defer client.Close()

	_, err = client.Submit(ctx, weir.Task{Service: "report", Pool: "printers"})
	fmt.Println(errors.Is(err, weir.ErrInvalid))
	fmt.Println(err)
	// Output:
	// true
	// weir: submit: task 1: pool: there is no pool 'printers' (create it first: select weir.set_pool('printers', size => 10))
}

func ExampleSnooze() {
	ctx, url, end := example()
	defer end()
	client, err := weir.Open(ctx, url, nil)
	if err != nil {
		panic(err)
	}
	defer client.Close()

	worker := weir.NewWorker(client, weir.WorkerConfig{})
	weir.Handle(worker, "export", func(_ context.Context, run *weir.Run[struct{}]) (any, error) {
		if run.Attempt == 1 {
			return nil, weir.Snooze(10 * time.Millisecond) // the file is not there yet
		}
		return "exported", nil
	})
	go worker.Run(ctx)
	defer worker.Stop(ctx)

	receipt, err := client.Submit(ctx, weir.Task{Service: "export", MaxAttempts: 1})
	if err != nil {
		panic(err)
	}
	outcome, err := client.Wait(ctx, receipt.ID)
	fmt.Println(outcome.State, outcome.Attempt, err)
	// Output: done 2 <nil>
}

// example gives an example a database of its own.
func example() (ctx context.Context, url string, end func()) {
	stage := &stage{}
	db := testdb.New(stage)
	return context.Background(), db.URL, func() {
		for i := len(stage.cleanups) - 1; i >= 0; i-- {
			stage.cleanups[i]()
		}
	}
}

// stage stands for the test that an example is not.
type stage struct {
	testing.TB
	cleanups []func()
}

func (s *stage) Helper()                      {}
func (s *stage) Cleanup(f func())             { s.cleanups = append(s.cleanups, f) }
func (s *stage) Logf(string, ...any)          {}
func (s *stage) Error(args ...any)            { panic(fmt.Sprint(args...)) }
func (s *stage) Errorf(f string, args ...any) { panic(fmt.Sprintf(f, args...)) }
func (s *stage) Fatal(args ...any)            { panic(fmt.Sprint(args...)) }
func (s *stage) Fatalf(f string, args ...any) { panic(fmt.Sprintf(f, args...)) }
