package docker

import (
	"context"

	"github.com/weirhq/weir/internal/agent/driver"
)

// found is a container of a previous process of the agent.
type found struct {
	driver      *Driver
	id          string
	task, fence string
	attempt     int
}

func (f *found) Fence() string { return f.fence }
func (f *found) Task() string  { return f.task }
func (f *found) Attempt() int  { return f.attempt }

// Attach watches the container. A container that was created and never started is
// started, because the previous process ended in between.
func (f *found) Attach(ctx context.Context, work driver.Work, out driver.Output) (driver.Running, error) {
	d := f.driver
	return d.once(ctx, nameOf(f.task, f.attempt), func(r *running) (err error) {
		r.id, r.tail = f.id, newTail(d, f.id, work.State, out)
		if err := r.tail.resume(); err != nil {
			return err
		}
		if r.leash, err = d.leash(f.id, work.State, work.Leash); err != nil {
			return err
		}
		return d.start(ctx, f.id, work)
	})
}

// Kill removes the container in whatever state it is.
func (f *found) Kill(context.Context) error { return f.driver.remove(f.id) }
