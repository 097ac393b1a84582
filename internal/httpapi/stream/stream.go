package stream

import (
	"context"
	"net/http"
	"time"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/timeline"
)

// auditKind is the kind of the audit's events.
const auditKind = "auth"

// stream is one client.
type stream struct {
	handler  *Handler
	config   *Config
	request  *http.Request
	follower *timeline.Follower
	fold     *fold
	w        http.ResponseWriter
	out      *http.ResponseController
	// deadline is the write deadline that was last set.
	deadline time.Time

	subject auth.Subject
	// marks is the hub's count of revocations for the subject at the last lookup.
	marks int64
	// audit reports whether the subject may see the audit.
	audit bool
	// plain means that the follower filters nothing: it returns everything between two
	// places, so all plain streams can send the same bytes.
	plain bool
}

// become sets the subject.
func (s *stream) become(subject auth.Subject) {
	s.marks = s.config.Hub.Marks(subject.Name)
	s.subject, s.audit = subject, auth.Can(subject, auth.Read, auth.Object{Kind: "audit"})
}

// allow checks each row that passes the filter.
func (s *stream) allow(e *timeline.Event) bool {
	if s.config.Allow != nil {
		return s.config.Allow(s.subject, e)
	}
	return s.audit || !auth.Private(e.Kind)
}

// run sends events until something ends the stream, and returns the cause.
func (s *stream) run(ctx context.Context) error {
	if err := s.begin(); err != nil {
		return err
	}
	now := time.Now()
	beat, check := now.Add(s.config.Beat), now.Add(s.config.Recheck)
	for {
		// A subject who may no longer see the events does not get the next rows.
		if now = time.Now(); !now.Before(check) {
			var err error
			if check, err = s.recheck(now); err != nil {
				return err
			}
		}
		if !now.Before(beat) {
			beat = now.Add(s.config.Beat)
			if err := s.write(beatOf(s.follower.Cursor())); err != nil {
				return err
			}
		}
		due := beat
		if check.Before(due) {
			due = check
		}
		events, err := s.follower.Within(ctx, due.Sub(now))
		if err == nil && s.config.Hub.Marks(s.subject.Name) != s.marks {
			check, err = s.recheck(time.Now())
		}
		if err == nil && len(events) > 0 {
			err = s.send(events)
			s.config.Count.Sent(len(events))
		}
		if err != nil {
			return err
		}
	}
}

// begin sends the head, and the place where the stream begins.
func (s *stream) begin() error {
	head := s.w.Header()
	head.Set("Content-Type", "text/event-stream")
	head.Set("Cache-Control", "no-store")
	head.Set("X-Accel-Buffering", "no")
	if s.request.ProtoMajor == 1 {
		// The stream ends with its connection: no chunks around the events, so that a
		// batch of them is one write.
		head.Set("Transfer-Encoding", "identity")
	}
	s.w.WriteHeader(http.StatusOK)
	return s.write(opening(s.follower.Cursor()))
}

// recheck looks the subject up again, and returns when to do so next.
func (s *stream) recheck(now time.Time) (next time.Time, err error) {
	s.marks = s.config.Hub.Marks(s.subject.Name) // a later change is seen at the next check
	subject, err := s.config.Subject(s.request)
	if err == nil {
		err = auth.Allow(subject, auth.Read, auth.Object{Kind: "event"})
	}
	if err != nil {
		switch problem.Explain(err).Kind {
		case problem.Unreachable, problem.Failed:
			// The database is away, and so are its events.
			return now.Add(s.config.Recheck / 10), nil
		default:
			return now, err
		}
	}
	s.become(subject)
	return now.Add(s.config.Recheck), nil
}

// send writes events together.
func (s *stream) send(events []*timeline.Event) error {
	if s.plain {
		return s.write(s.handler.shared.of(events, s.audit))
	}
	piece := pieces.Get().(*[]byte)
	defer pieces.Put(piece)
	b := (*piece)[:0]
	for _, e := range events {
		if s.fold.drops(e) {
			continue
		}
		frame := e.Encoded(frameOf)
		if len(b)+len(frame) > pieceBytes {
			if err := s.write(b); err != nil {
				return err
			}
			b = b[:0]
		}
		b = append(b, frame...)
	}
	if cap(b) == pieceBytes { // else a single event was larger
		*piece = b
	}
	return s.write(b)
}

// write gives the client its time for these bytes.
func (s *stream) write(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	// The server's limit is for answers that end; this one begins anew with each write.
	// Setting a timer costs, so a write may get a quarter less time.
	if now := time.Now(); s.deadline.Sub(now) < s.config.WriteTimeout*3/4 {
		s.deadline = now.Add(s.config.WriteTimeout)
		_ = s.out.SetWriteDeadline(s.deadline) // a writer without deadlines waits for ever
	}
	if _, err := s.w.Write(b); err != nil {
		return err
	}
	return s.out.Flush()
}
