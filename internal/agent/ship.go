package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/uptime"
)

const (
	// shipEvery and shipSize decide when a piece of the log is sent: after a second, or
	// as soon as it has this size.
	shipEvery, shipSize = time.Second, 64 << 10
	// shipPause is how many times as long as the last call took the next one waits, up to
	// shipRarest, so that a slow server has time for leases.
	shipPause, shipRarest = 10, 30 * time.Second
	// shipMost is the largest size of a piece when many lines wait.
	shipMost = 1 << 20
	// pieceMost is the largest size of a piece that is reported together with others.
	pieceMost = 16 << 10
	// sayMost is the longest time between two events about the log.
	sayMost = 10 * time.Second
	// noteEvery is the shortest time between two writes of the journal for lines that leave
	// neither log nor event, such as progress.
	noteEvery = 10 * time.Second
)

// sayAfter returns how long after an event about the log the next one may come. A
// long-running attempt gets fewer of them, because they would hide the rest of its
// timeline. Readers of the log look for more without them.
func sayAfter(age time.Duration) time.Duration { return min(max(age/10, shipEvery), sayMost) }

// shipper sends the log of an attempt while it grows, and its progress. It also keeps the
// journal.
type shipper struct {
	at   *attempt
	wake chan struct{}
	stop chan struct{}
	done sync.WaitGroup

	// Only the shipping goroutine uses these, and finish after it.
	seq    int
	last   journal
	noted  time.Time // when the journal was last written
	unsent []entry
	// mute is set if there is no bucket to send the log to.
	mute bool
	// took is how long the last call took.
	took time.Duration
	// began is when the log began, said is when an event last reported it, and hushed is
	// how many lines were stored since without an event. ending is set when no more lines
	// come.
	began, said time.Time
	hushed      int
	ending      bool

	mu sync.Mutex
	// latest is progress that has not been reported; percent is the last whole number
	// that was reported or waits.
	latest  *node.Note
	told    time.Time
	percent int
}

func newShipper(at *attempt) *shipper {
	return &shipper{at: at, wake: make(chan struct{}, 1), stop: make(chan struct{}), percent: -1}
}

// stir receives how many bytes wait.
func (s *shipper) stir(bytes int) {
	if bytes >= shipSize {
		signal(s.wake)
	}
}

// progress reports progress now, or with the next tick. Less than one percent is not
// worth an event.
func (s *shipper) progress(percent float64, n node.Note) {
	s.mu.Lock()
	if int(percent) == s.percent {
		s.mu.Unlock()
		return
	}
	s.percent = int(percent)
	if time.Since(s.told) < progressEvery {
		s.latest = &n
		s.mu.Unlock()
		return
	}
	s.told, s.latest = time.Now(), nil
	s.mu.Unlock()
	s.at.tell(n)
}

func (s *shipper) tellProgress() {
	s.mu.Lock()
	n := s.latest
	s.latest = nil
	if n != nil {
		s.told = time.Now()
	}
	s.mu.Unlock()
	if n != nil {
		s.at.tell(*n)
	}
}

// begin ships until finish is called.
func (s *shipper) begin() {
	s.done.Go(func() {
		ctx, cancel := context.WithCancel(s.at.kill)
		defer cancel()
		for !closed(s.stop) {
			// A piece that is large enough goes early, unless the server is slow.
			wake := s.wake
			if s.took*shipPause > shipEvery {
				wake = nil
			}
			timer := time.NewTimer(s.rest())
			select {
			case <-timer.C:
			case <-wake:
			case <-s.stop:
			}
			timer.Stop()
			if closed(s.stop) {
				return
			}
			s.tellProgress()
			if s.at.unrenewed() {
				continue // the lease goes before the log
			}
			for s.send(ctx) && !closed(s.stop) && s.took*shipPause <= shipEvery {
			}
			s.note()
		}
	})
}

// unrenewed reports whether the renewal of the lease is late, because the server is away
// or slow.
func (at *attempt) unrenewed() bool {
	a := at.agent
	a.mu.Lock()
	defer a.mu.Unlock()
	return uptime.Now()-at.renewed > a.config.Lease/2
}

// rest returns how long to wait before the next piece.
func (s *shipper) rest() time.Duration { return min(max(shipEvery, s.took*shipPause), shipRarest) }

// leave stops shipping. The next process of the agent goes on where the journal ends.
func (s *shipper) leave() {
	close(s.stop)
	s.done.Wait()
	s.noted = time.Time{}
	s.note()
}

// finish sends the rest. It gives up when there is no time left for it.
func (s *shipper) finish(ctx context.Context) {
	close(s.stop)
	s.done.Wait()
	s.tellProgress()
	s.ending = true
	defer s.sayRest()
	for failures := 0; ; {
		if s.send(ctx) {
			failures = 0
			continue
		}
		if len(s.unsent) == 0 || s.mute {
			return
		}
		if !loop.Wait(ctx, backoff(failures), nil) {
			s.at.agent.log.Warn("the end of a log was not kept", "task", s.at.Task, "attempt", s.at.Attempt)
			return
		}
		failures++
	}
}

// send ships one piece and reports whether there was one and it was sent.
func (s *shipper) send(ctx context.Context) bool {
	if len(s.unsent) == 0 {
		s.unsent = s.at.out.take(shipMost)
	}
	if len(s.unsent) == 0 {
		return false
	}
	if s.mute {
		s.unsent = nil
		return true
	}
	var lines bytes.Buffer
	for _, e := range s.unsent {
		lines.Write(e.text)
	}
	first, last := s.unsent[0], s.unsent[len(s.unsent)-1]
	now := time.Now()
	if s.began.IsZero() {
		s.began = now
	}
	quiet := !s.ending && now.Sub(s.said) < sayAfter(now.Sub(s.began))
	// The event about it goes with the other notes of the agent.
	err := s.append(ctx, node.LogChunk{Seq: s.seq, Lines: lines.Bytes(), From: first.at, To: last.at, Quiet: true, Before: s.hushed})
	switch {
	case err == nil:
		s.seq++
		s.hushed += len(s.unsent)
		s.unsent = nil
		s.last.Stdout, s.last.Stderr = last.out, last.err
		if !quiet {
			s.said = now
			s.sayRest()
		}
		return true
	case errors.Is(err, node.ErrNoBucket) || final(err) || noBucket(err):
		s.mute, s.unsent = true, nil
		s.at.agent.log.Warn("logs are not kept", "task", s.at.Task, "error", err)
		return true
	case lost(err):
		s.at.stop(errLost)
	case ctx.Err() == nil && !errors.Is(err, context.Canceled):
		s.at.agent.failed("keep the log", err)
	}
	return false
}

// append stores a piece. A small one goes with what the agent reports of all its attempts,
// unless the attempt ends.
func (s *shipper) append(ctx context.Context, chunk node.LogChunk) error {
	a, now := s.at.agent, time.Now()
	ctx, cancel := context.WithTimeout(ctx, callMost+gatherMost)
	defer cancel()
	a.mu.Lock()
	if s.ending || len(a.held) < 2 || len(chunk.Lines) > pieceMost {
		a.mu.Unlock()
		defer func() { s.took = time.Since(now) }()
		return a.transport.AppendLog(ctx, s.at.Holds(), chunk)
	}
	p := &piece{node.LogPiece{Lease: s.at.Holds(), LogChunk: chunk}, make(chan answeredPiece, 1)}
	a.gather()
	a.mail.logs = append(a.mail.logs, p)
	a.mu.Unlock()
	signal(a.told)
	select {
	case said := <-p.answered:
		s.took = said.took
		return said.err
	case <-s.stop: // the attempt ends: the same piece again is the same piece
	case <-ctx.Done():
		s.took = time.Since(now)
	}
	return context.Canceled
}

// sayRest reports the lines that were stored without an event.
func (s *shipper) sayRest() {
	if s.hushed == 0 {
		return
	}
	data, err := json.Marshal(map[string]int{"seq": s.seq - 1, "lines": s.hushed})
	if err != nil {
		return // numbers always become JSON
	}
	s.hushed = 0
	s.at.tell(node.Note{Lease: s.at.Holds(), Type: "log", Data: data})
}

// note writes the journal, if it has changed.
func (s *shipper) note() {
	o := s.at.out
	o.mu.Lock()
	j := journal{Stdout: s.last.Stdout, Stderr: s.last.Stderr, Seq: s.seq, Kept: o.kept, Result: o.result, Events: o.events}
	if len(o.pending) == 0 && len(s.unsent) == 0 { // lines of the protocol leave no entry
		j.Stdout, j.Stderr = o.takenOut+o.out.done, o.takenErr+o.err.done
	}
	o.mu.Unlock()
	if j.Stdout == s.last.Stdout && j.Stderr == s.last.Stderr && j.Seq == s.last.Seq && j.Events == s.last.Events {
		return
	}
	// Progress and results that are read twice do no harm. Lines of the log and events
	// would be there twice.
	if j.Seq == s.last.Seq && j.Events == s.last.Events && time.Since(s.noted) < noteEvery {
		return
	}
	if err := s.at.dir.save(journalFile, j); err != nil {
		s.at.agent.log.Warn("the journal of an attempt was not written", "task", s.at.Task, "error", err)
		return
	}
	s.last, s.noted = j, time.Now()
}

// resume continues where a previous process of the agent stopped.
func (o *output) resume(j journal) {
	o.takenOut, o.takenErr = j.Stdout, j.Stderr
	o.kept, o.result, o.events = j.Kept, j.Result, j.Events
}

// patience returns the timeout for sending the attempt's last output, which leaves enough
// of the lease to report its end.
func (at *attempt) patience() (context.Context, context.CancelFunc) {
	at.agent.mu.Lock()
	left := at.safe - uptime.Now() - at.agent.keeper.Margin()
	at.agent.mu.Unlock()
	return context.WithTimeout(at.kill, max(left, time.Second))
}
