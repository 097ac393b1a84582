package demo

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/loop"
)

// Film is what the tasks of the demo are about.
type Film struct {
	Title  string `json:"title"`
	Height int    `json:"height,omitempty"`
}

// handle registers what the studio can do.
func handle(w *weir.Worker) {
	weir.Handle(w, "demo.probe", steps(2, "reading the container"))
	weir.Handle(w, "demo.encode", steps(8, "encoding"))
	weir.Handle(w, "demo.thumbnails", thumbnails)
	weir.Handle(w, "demo.package", steps(2, "writing the manifest"))
	weir.Handle(w, "demo.publish", steps(3, "copying to the site"))
	weir.Handle(w, "demo.mail", steps(1, "sending the mail"))
	weir.Handle(w, "demo.review", steps(2, "playing the trailer"))
	weir.Handle(w, tidy, steps(1, "looking for old files"))
	weir.Handle(w, "hello", hello)
}

// steps is work of n seconds that tells how far it is.
func steps(n int, doing string) func(context.Context, *weir.Run[Film]) (any, error) {
	return func(ctx context.Context, run *weir.Run[Film]) (any, error) {
		for i := range n {
			run.Progress(100*float64(i)/float64(n), doing)
			if !loop.Wait(ctx, time.Second, nil) {
				return nil, context.Cause(ctx)
			}
		}
		return map[string]any{"title": run.Args.Title, "seconds": n}, nil
	}
}

// thumbnails fail the first time, so that there is a retry to see.
func thumbnails(ctx context.Context, run *weir.Run[Film]) (any, error) {
	if run.Attempt == 1 {
		return nil, errors.New("the picture server is busy")
	}
	return steps(2, "taking pictures")(ctx, run)
}

// hello answers what the welcome text suggests to submit.
func hello(_ context.Context, run *weir.Run[struct{ Name string }]) (any, error) {
	return map[string]string{"greeting": fmt.Sprintf("hello, %s", run.Args.Name)}, nil
}
