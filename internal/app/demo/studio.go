package demo

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/loop"
)

const (
	// every is the time between two looks whether a new film may come.
	every = 30 * time.Second
	// grace is how long a handler may run on at the end. Their steps are short.
	grace = 3 * time.Second

	poolEncoders = "demo.encoders"
	poolMail     = "demo.mail"
	laneSite     = "demo.site"
	// tidy is a service and the name of its schedule.
	tidy = "demo.tidy"
)

// Demo is a running studio.
type Demo struct {
	client *weir.Client
	worker *weir.Worker
	log    *slog.Logger
	film   weir.ID
	// lab is the fleet; nil: there is none.
	lab *lab

	life  context.Context
	end   context.CancelFunc
	group sync.WaitGroup
}

// Start sets the pools up, starts the worker on a node of that name and begins
// to submit.
func Start(ctx context.Context, client *weir.Client, node string, log *slog.Logger) (*Demo, error) {
	for _, p := range []weir.Pool{
		{Name: poolEncoders, Size: weir.Size(2), Note: "two encoders for all films"},
		{Name: poolMail, Rate: 6, Per: time.Minute, Note: "no more than six mails a minute"},
	} {
		if err := client.SetPool(ctx, p); err != nil {
			return nil, err
		}
	}
	if err := client.SetSchedule(ctx, weir.Schedule{
		Name: tidy, Spec: "@every 1m", Missed: weir.MissedSkip, Task: weir.Task{Service: tidy, Params: Film{Title: "old files"}},
	}); err != nil {
		return nil, err
	}
	d := &Demo{client: client, log: log}
	d.worker = weir.NewWorker(client, weir.WorkerConfig{
		Name: "demo@" + node, Node: node, Concurrency: 8, Grace: grace,
		NodeLabels:   map[string]string{"demo": "true"},
		NodeCapacity: map[string]int{"demo.encode": 4},
	})
	handle(d.worker)
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	d.life, d.end = life, end
	d.group.Go(func() {
		if err := d.worker.Run(life); err != nil {
			log.Warn("the demo's worker did not start", "error", err)
		}
	})
	d.group.Go(func() {
		var runner loop.Runner
		runner.Log = log
		runner.Run(life, loop.Loop{Name: "demo", Every: every, Tick: d.tick})
	})
	return d, nil
}

// Worker is the name of the worker.
func (d *Demo) Worker() string { return d.worker.Name() }

// Stop ends the submissions and lets the worker hand back what it holds.
func (d *Demo) Stop(ctx context.Context) error {
	err := d.worker.Stop(ctx)
	d.end()
	err = errors.Join(err, d.lab.stop(ctx))
	d.group.Wait()
	// Without its worker it would only pile up.
	if gone := d.client.DropSchedule(ctx, tidy, "demo"); !errors.Is(gone, weir.ErrNotFound) {
		err = errors.Join(err, gone)
	}
	return err
}

// tick submits a film if the last one has ended, and sees to it that a trailer
// waits for a person.
func (d *Demo) tick(ctx context.Context, now time.Time) (more bool, err error) {
	if _, err := d.client.Submit(ctx, trailer()); err != nil {
		return false, err
	}
	if !d.film.IsZero() {
		job, err := d.client.Job(ctx, d.film)
		if err != nil {
			return false, err
		}
		if job.FinishedAt.IsZero() {
			return false, nil
		}
	}
	// Two servers that show the demo submit the same film, once.
	slot := now.Unix() / int64(every/time.Second)
	d.film, err = d.client.SubmitJob(ctx, film(slot))
	return false, err
}

// trailer waits until a person releases it: weir task release ID. There is one
// at a time.
func trailer() weir.Task {
	return weir.Task{
		Service: "demo.review", Params: Film{Title: "Trailer"}, UniqueKey: "demo.trailer",
		Hold: "the editor: watch the trailer first",
	}
}

var titles = []string{"The Weir", "Low Water", "Spring Tide", "Upstream", "The Lock Keeper", "Floodplain"}

// film is the job of one film.
func film(slot int64) weir.Job {
	f := Film{Title: titles[int(slot)%len(titles)]}
	encode := func(key string, height int) weir.Task {
		return weir.Task{
			Service: "demo.encode", Key: key, Needs: []string{"probe"}, Pool: poolEncoders, Timeout: time.Minute,
			Params: Film{Title: f.Title, Height: height},
		}
	}
	return weir.Job{
		Name: f.Title, Kind: "demo", Params: f, IdempotencyKey: fmt.Sprintf("demo:film:%d", slot),
		Tasks: []weir.Task{
			{Service: "demo.probe", Key: "probe", Params: f},
			encode("1080p", 1080),
			encode("720p", 720),
			{Service: "demo.thumbnails", Key: "thumbnails", Needs: []string{"probe"}, Params: f, Backoff: 2 * time.Second, BackoffCap: 4 * time.Second},
			{Service: "demo.package", Key: "package", Needs: []string{"1080p", "720p", "thumbnails"}, Params: f},
			{Service: "demo.publish", Key: "publish", Needs: []string{"package"}, Params: f, Lane: laneSite, Exclusive: true},
			{Service: "demo.mail", Key: "mail", Needs: []string{"publish"}, Params: f, Pool: poolMail},
		},
	}
}
