package remote

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/problem"
)

const (
	// beginning is the cursor before the first event.
	beginning = "0.0"
	// silence is how long a stream may be silent: the server beats every 30 s.
	silence = 75 * time.Second
	// patience is how long a server may be away before following ends.
	patience = 2 * time.Minute
	// lineLimit is the most bytes of a line of the stream.
	lineLimit = 32 << 20
)

// Follow calls f for every event after the cursor, and for new events until ctx ends or f
// returns an error, which it then returns. If the connection breaks it continues where it
// was: no event is left out, none comes twice. A server that stays away for two minutes
// ends it.
func (c *Client) Follow(ctx context.Context, after weir.Cursor, filter weir.Filter, f func(weir.Event) error) error {
	if after == "" {
		after = beginning
	}
	heard := time.Now()
	for failed := 0; ; {
		s := &stream{client: c, after: after, filter: filter, f: f}
		err := s.read(ctx)
		if s.after != after || s.opened {
			after, failed, heard = s.after, 0, time.Now()
		}
		var own *ownError
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.As(err, &own):
			return own.error
		case kindOf(err) != problem.Unreachable, time.Since(heard) > patience:
			return err
		}
		failed++
		if !loop.Wait(ctx, pause(failed), nil) {
			return context.Cause(ctx)
		}
	}
}

// ownError is an error that the caller's function returned.
type ownError struct{ error }

// stream is one connection.
type stream struct {
	client *Client
	after  weir.Cursor
	filter weir.Filter
	f      func(weir.Event) error
	opened bool

	// seen is the time of the last line, in nanoseconds.
	seen atomic.Int64
}

// read opens the stream and reads it to its end. It never returns nil.
func (s *stream) read(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	watched := make(chan struct{})
	defer func() { cancel(); <-watched }()
	s.seen.Store(time.Now().UnixNano())
	go s.watch(ctx, cancel, watched)
	response, err := s.client.send(ctx, call{
		method: http.MethodGet, path: []string{"events"}, query: values("job", id(s.filter.Job), "task", id(s.filter.Task)),
		header: http.Header{"Accept": {"text/event-stream"}, "Last-Event-Id": {string(s.after)}, "Cache-Control": {"no-store"}},
	}, nil)
	if err != nil {
		return s.broken(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK || !strings.HasPrefix(response.Header.Get("Content-Type"), "text/event-stream") {
		text, _ := io.ReadAll(io.LimitReader(response.Body, 1<<20)) // a part is enough
		return s.client.refused(response, text)
	}
	s.opened = true
	return s.lines(response.Body)
}

// watch ends a silent stream: the server is gone and the connection was not closed.
func (s *stream) watch(ctx context.Context, cancel context.CancelFunc, done chan<- struct{}) {
	defer close(done)
	for loop.Wait(ctx, silence/5, nil) {
		if time.Since(time.Unix(0, s.seen.Load())) > silence {
			cancel()
			return
		}
	}
}

// lines reads events: fields line by line, an empty line ends one.
func (s *stream) lines(body io.Reader) error {
	scanner := bufio.NewScanner(body)
	scanner.Buffer(make([]byte, 64<<10), lineLimit)
	var cursor string
	var data []byte
	for scanner.Scan() {
		s.seen.Store(time.Now().UnixNano())
		line := scanner.Text()
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "":
			if len(data) > 0 {
				if err := s.event(cursor, data); err != nil {
					return err
				}
			} else if cursor != "" {
				s.after = weir.Cursor(cursor) // no selected event up to there
			}
			cursor, data = "", nil
		case name == "id":
			cursor = value
		case name == "data":
			data = append(data, value...)
		}
	}
	err := scanner.Err()
	if err == nil {
		err = io.ErrUnexpectedEOF
	}
	return s.broken(err)
}

func (s *stream) event(cursor string, data []byte) error {
	var e view.Event
	if err := json.Unmarshal(data, &e); err != nil {
		return problem.New(problem.Failed, "is the server not older than this program?", "an event of %s is not understood: %s", s.client.Server(), err)
	}
	if cursor == "" {
		cursor = e.Cursor
	}
	out := weir.Event{
		Cursor: weir.Cursor(cursor), Seq: e.Seq, At: e.At, Type: e.Type, Kind: e.Kind, Subject: e.Subject, Job: e.Job, Task: e.Task, Attempt: e.Attempt, Worker: e.Worker,
		Source: e.Source, Level: e.Level, Message: e.Message, Data: e.Data,
	}
	if err := s.f(out); err != nil {
		return &ownError{err}
	}
	s.after = out.Cursor
	return nil
}

func (s *stream) broken(err error) error {
	if errors.Is(err, context.Canceled) {
		err = fmt.Errorf("the stream was silent for %s", silence)
	}
	return s.client.unreachable(err)
}
