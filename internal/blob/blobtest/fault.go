package blobtest

import (
	"context"
	"io"
	"log"
)

type faultKey struct{}

// withFault passes the fault of a request on to its answer.
func withFault(ctx context.Context, f Fault) context.Context {
	return context.WithValue(ctx, faultKey{}, f)
}

func faultOf(ctx context.Context) (Fault, bool) {
	f, ok := ctx.Value(faultKey{}).(Fault)
	return f, ok
}

// silent is a log for intended faults.
func silent() *log.Logger { return log.New(io.Discard, "", 0) }
