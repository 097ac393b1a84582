package docker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync/atomic"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/moby/moby/api/pkg/stdcopy"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/workspace/home"
	"github.com/weirhq/weir/internal/workspace/inside/program"
)

// help runs a helper to its end: in goes into it, what it writes goes to out, and what it
// tells at the end is returned. When ctx ends, or nothing moves for too long, it is killed.
func (p *Provider) help(ctx context.Context, options client.ContainerCreateOptions, in io.Reader, out io.Writer) (home.Meta, error) {
	made, err := call(ctx, p, "make a helper", func(ctx context.Context) (client.ContainerCreateResult, error) {
		return p.engine.ContainerCreate(ctx, options)
	})
	if err != nil {
		return home.Meta{}, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	var moved atomic.Int64
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		p.watch(ctx, cancel, &moved)
	}()
	told, err := p.converse(ctx, made.ID, &source{from: in, moved: &moved}, &counter{out, &moved})
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = errors.Join(cause, err)
	}
	cancel(nil)
	<-watched
	if err != nil {
		return home.Meta{}, errors.Join(err, p.dismiss(context.WithoutCancel(ctx), made.ID))
	}
	return told, nil
}

var errStalled = errors.New("nothing has moved for too long")

// watch ends what does not get on any more.
func (p *Provider) watch(ctx context.Context, end context.CancelCauseFunc, moved *atomic.Int64) {
	for last := int64(-1); ; {
		if !loop.Wait(ctx, p.config.Stall, nil) {
			return
		}
		now := moved.Load()
		if now == last {
			end(errStalled)
			return
		}
		last = now
	}
}

// converse attaches to a helper, starts it and hears it to its end.
func (p *Provider) converse(ctx context.Context, id string, in *source, out io.Writer) (home.Meta, error) {
	pipe, err := call(ctx, p, "attach to the helper", func(ctx context.Context) (client.ContainerAttachResult, error) {
		return p.engine.ContainerAttach(ctx, id, client.ContainerAttachOptions{Stream: true, Stdin: true, Stdout: true, Stderr: true})
	})
	if err != nil {
		return home.Meta{}, err
	}
	defer pipe.Close()
	defer context.AfterFunc(ctx, func() { _ = pipe.Conn.SetDeadline(time.Unix(1, 0)) })()
	waiting, stop := context.WithCancel(ctx)
	defer stop()
	over, err := p.expect(waiting, stop, id)
	if err != nil {
		return home.Meta{}, err
	}
	_, err = call(ctx, p, "start the helper", func(ctx context.Context) (client.ContainerStartResult, error) {
		return p.engine.ContainerStart(ctx, id, client.ContainerStartOptions{})
	})
	if err != nil {
		stop()
		<-over
		return home.Meta{}, err
	}
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		_, _ = io.Copy(pipe.Conn, in) // what could not be read is kept, what could not be sent the helper misses
		_ = pipe.CloseWrite()         // the same
	}()
	var said tail
	_, err = stdcopy.StdCopy(out, &said, pipe.Reader)
	result := exit{err: err}
	if err == nil {
		if result = <-over; result != (exit{}) {
			_ = pipe.Conn.SetDeadline(time.Unix(1, 0)) // it refuses the rest, and the engine would not say so for minutes
		}
	} else {
		_ = pipe.Conn.SetDeadline(time.Unix(1, 0)) // so that nothing waits to be sent
		stop()
		<-over
		// It goes at once, however long whoever sends to it still takes.
		result.err = errors.Join(err, p.dismiss(context.WithoutCancel(ctx), id))
	}
	<-sent
	return judge(&said, result, in.err)
}

// expect waits for the end of a container that has not been started yet: one that ends at
// once, and removes itself, is missed otherwise.
func (p *Provider) expect(ctx context.Context, stop context.CancelFunc, id string) (<-chan exit, error) {
	asked := make(chan client.ContainerWaitResult, 1)
	go func() {
		asked <- p.engine.ContainerWait(ctx, id, client.ContainerWaitOptions{Condition: container.WaitConditionNextExit})
	}()
	patient, cancel := context.WithTimeout(ctx, p.config.Call)
	defer cancel()
	over := make(chan exit, 1)
	select {
	case answer := <-asked:
		go func() { over <- wait(answer) }()
		return over, nil
	case <-patient.Done():
		stop()
		wait(<-asked)
		return nil, p.fault("wait for the helper", patient.Err())
	}
}

// judge says what came of it. What the source says comes first: an archive that could not
// be read looks like one that is cut off. Then the helper, who knows best.
func judge(said *tail, result exit, lost error) (home.Meta, error) {
	told := said.told()
	switch {
	case lost != nil:
		return home.Meta{}, lost
	case told.Refused:
		return home.Meta{}, fmt.Errorf("%w: %s", home.ErrRefused, told.Error)
	case told.Error != "":
		return home.Meta{}, errors.New(told.Error)
	case result.err != nil:
		return home.Meta{}, fmt.Errorf("the helper was cut off: %w", result.err)
	case result.code != 0:
		return home.Meta{}, fmt.Errorf("the helper ended with exit code %d: %s", result.code, bytes.TrimSpace(said.text))
	case told.Meta == nil:
		return home.Meta{}, nil
	}
	return *told.Meta, nil
}

// exit is how a container ended.
type exit struct {
	code int64
	err  error
}

func wait(result client.ContainerWaitResult) exit {
	select {
	case end := <-result.Result:
		if end.Error != nil {
			return exit{err: errors.New(end.Error.Message)}
		}
		return exit{code: end.StatusCode}
	case err := <-result.Error:
		return exit{err: err}
	}
}

// dismiss kills a helper and waits until it is gone.
func (p *Provider) dismiss(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(ctx, p.config.Call)
	defer cancel()
	// One that was never started is removed, one that runs is killed and removes itself.
	if _, err := p.engine.ContainerKill(ctx, id, client.ContainerKillOptions{Signal: "KILL"}); err != nil && !cerrdefs.IsNotFound(err) && !cerrdefs.IsConflict(err) {
		return p.fault("end a helper", err)
	}
	return p.remove(ctx, id)
}

// remove removes a container that does not run, and returns when it is gone.
func (p *Provider) remove(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(ctx, p.config.Call)
	defer cancel()
	for {
		_, err := p.engine.ContainerRemove(ctx, id, client.ContainerRemoveOptions{})
		switch {
		case cerrdefs.IsNotFound(err):
			return nil
		case err != nil && !cerrdefs.IsConflict(err):
			return p.fault("remove a container", err)
		}
		// A conflict: it is about to end, or somebody else is removing it.
		if !loop.Wait(ctx, 20*time.Millisecond, nil) {
			return p.fault("remove a container", errors.Join(ctx.Err(), err))
		}
	}
}

// tail keeps the end of what a helper complains about.
type tail struct{ text []byte }

const tailMost = 64 << 10

func (t *tail) Write(b []byte) (int, error) {
	t.text = append(t.text, b...)
	t.text = t.text[max(0, len(t.text)-tailMost):]
	return len(b), nil
}

// told is the last line in which the helper says what came of it. Others may follow, which
// are for people.
func (t *tail) told() (told program.Told) {
	lines := bytes.Split(t.text, []byte("\n"))
	for _, line := range slices.Backward(lines) {
		if bytes.HasPrefix(line, []byte("{")) && json.Unmarshal(line, &told) == nil {
			return told
		}
	}
	return program.Told{}
}

// counter counts what passes.
type counter struct {
	to    io.Writer
	moved *atomic.Int64
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.to.Write(b)
	c.moved.Add(int64(n))
	return n, err
}

// source is what goes into a helper. It keeps why it could not be read.
type source struct {
	from  io.Reader
	moved *atomic.Int64
	err   error
}

func (s *source) Read(b []byte) (int, error) {
	n, err := s.from.Read(b)
	s.moved.Add(int64(n))
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}
