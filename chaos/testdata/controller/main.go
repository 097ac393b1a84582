// Command controller leads for the workspaces of package chaos, until it is killed.
package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/weirhq/weir/internal/blob"
	"github.com/weirhq/weir/internal/coordinator"
	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/pg"
	"github.com/weirhq/weir/internal/workspace"
	"github.com/weirhq/weir/internal/workspace/provider"
	"github.com/weirhq/weir/internal/workspace/provider/process"
)

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	url, at := flag.String("database", "", "where Weir is"), flag.String("bucket", "", "where archives are")
	dir, program := flag.String("dir", "", "where homes are"), flag.String("program", "", "what runs in a workspace")
	flag.Parse()
	pool, err := pg.Open(ctx, *url, pg.Options{Name: "controller"})
	if err != nil {
		return err
	}
	bucket, err := blob.Open(ctx, *at)
	if err != nil {
		return err
	}
	// It looks often, whether somebody wants something or not.
	wake := make(chan struct{})
	go func() {
		for range time.NewTicker(50 * time.Millisecond).C {
			wake <- struct{}{}
		}
	}()
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
	coordinator.New(coordinator.Config{Pool: pool, TTL: 3 * time.Second, Log: log, Loops: func(term *coordinator.Term) []loop.Loop {
		return workspace.Loops(workspace.Config{
			Pool: pool, Bucket: bucket, Wake: wake, Log: log.With("epoch", term.Epoch()),
			Providers: []provider.Provider{process.New(process.Config{Dir: *dir, Program: *program, Grace: 5 * time.Second})},
		}, term)
	}}).Run(ctx)
	return nil
}
