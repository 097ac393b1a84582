package httpapi

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/blob"
	"github.com/weirhq/weir/internal/blob/joblog"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/pattern"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/timeline"
)

const (
	// followFor is how long one request follows a log. A client that still may read
	// continues from the last place.
	followFor = 10 * time.Minute
	// beatEvery is the time between two heartbeats.
	beatEvery = 15 * time.Second
	// mostTail is the most lines of the end that one request gets.
	mostTail = 10_000
	// pageTail is how many lines a page has that goes back.
	pageTail = 1000
)

// LogLine is a line of a log as it is sent.
type LogLine struct {
	At     time.Time `json:"at,omitzero"`
	Stream string    `json:"stream,omitempty"`
	Text   string    `json:"text"`
	Place  string    `json:"place" doc:"Send it as after to go on behind this line."`
}

// logParams document the log, which has a handler of its own.
var logParams = []*huma.Param{
	{Name: "task", In: "path", Required: true, Description: "The id, whole or its end.", Schema: &huma.Schema{Type: huma.TypeString}},
	{Name: "attempt", In: "query", Description: "Which attempt; left out: the newest.", Schema: &huma.Schema{Type: huma.TypeInteger}},
	{Name: "after", In: "query", Description: "Begin behind this place.", Schema: &huma.Schema{Type: huma.TypeString}},
	{Name: "before", In: "query", Description: "End in front of this place: the page of tail lines (1,000 if left out) before it, for a reader that goes back.", Schema: &huma.Schema{Type: huma.TypeString}},
	{Name: "grep", In: "query", Description: "Only lines that match this regular expression (RE2).", Schema: &huma.Schema{Type: huma.TypeString}},
	{Name: "tail", In: "query", Description: "Begin with the last so many lines, at most 10,000.", Schema: &huma.Schema{Type: huma.TypeInteger}},
	{Name: "follow", In: "query", Description: `true: wait for more, until the attempt has ended; then {"end": true}. After ten minutes the answer ends without it: go on from the last place.`, Schema: &huma.Schema{Type: huma.TypeBoolean}},
	{Name: "Last-Event-ID", In: "header", Description: "As after, and wins over it; with Accept: text/event-stream the lines are events.", Schema: &huma.Schema{Type: huma.TypeString}},
}

// logQuery is the part of a log that a client wants to read.
type logQuery struct {
	task  view.Task
	log   joblog.Log
	after joblog.Place
	tail  int
	// before ends a page that goes back; zero: there is none.
	before joblog.Place
	// matches selects lines; nil: all.
	matches func(text string) bool
	follow  bool
	asEvent bool
}

func (a *API) taskLog() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := a.serveLog(w, r); err != nil {
			a.refuse(w, r, err)
		}
	})
}

// serveLog returns an error only before anything was sent.
func (a *API) serveLog(w http.ResponseWriter, r *http.Request) error {
	bucket, err := a.bucket()
	if err != nil {
		return err
	}
	q, err := a.logQuery(r, bucket)
	if err != nil {
		return err
	}
	leave, err := a.carries.Take(auth.From(r.Context()))
	if err != nil {
		return err
	}
	defer leave()
	ctx, cancel := context.WithTimeout(r.Context(), followFor)
	defer cancel()
	defer context.AfterFunc(a.life, cancel)()
	out := newLogWriter(w, q.asEvent)
	if q.before != (joblog.Place{}) {
		lines, err := joblog.Before(ctx, bucket, q.log, q.before, cmp.Or(q.tail, pageTail))
		if err != nil {
			return err
		}
		return a.sendLog(ctx, out, q.selected(listed(lines)), false)
	}
	if q.tail > 0 {
		lines, err := joblog.Tail(ctx, bucket, q.log, q.tail)
		if err != nil {
			return err
		}
		for _, l := range lines {
			if q.after = l.Place; out.line(l) != nil {
				return nil // the client has gone
			}
		}
	}
	lines := joblog.Read(ctx, bucket, q.log, q.after)
	if q.follow {
		stop := out.beat(ctx, cancel)
		defer stop()
		wake, deaf := a.grown(ctx, q.task.ID)
		defer deaf()
		lines = joblog.Follow(ctx, bucket, q.log, q.after, joblog.Live{Wake: wake, Ended: a.config.Store.LogEnded(q.task.ID, q.log.Attempt)})
	}
	return a.sendLog(ctx, out, q.selected(lines), q.follow)
}

// selected leaves out what was not asked for.
func (q *logQuery) selected(lines joblog.Lines) joblog.Lines {
	if q.matches == nil {
		return lines
	}
	return joblog.Find(lines, q.matches)
}

func listed(lines []joblog.Line) joblog.Lines {
	return func(yield func(joblog.Line, error) bool) {
		for _, l := range lines {
			if !yield(l, nil) {
				return
			}
		}
	}
}

func (a *API) sendLog(ctx context.Context, out *logWriter, lines joblog.Lines, follow bool) error {
	for l, err := range lines {
		switch {
		case err != nil && !out.begun():
			return err
		case err != nil:
			a.log.Debug("a log broke off", "error", err)
			panic(http.ErrAbortHandler) // a truncated log must not look complete
		}
		if out.line(l) != nil {
			return nil // the client has gone
		}
	}
	if follow && ctx.Err() == nil {
		out.end()
	}
	return out.flush()
}

// logQuery reads the query of a request.
func (a *API) logQuery(r *http.Request, bucket blob.Bucket) (q logQuery, err error) {
	values, err := queryOf(r, "attempt", "after", "before", "grep", "tail", "follow")
	if err != nil {
		return q, err
	}
	number := func(name string, most int) int {
		n, bad := strconv.Atoi(values.Get(name))
		if values.Get(name) != "" && (bad != nil || n < 0 || n > most) && err == nil {
			err = problem.Refuse(name, "", "expected a whole number from 0 to %d", most)
		}
		return n
	}
	attempt := number("attempt", 32767)
	if q.tail = number("tail", mostTail); err != nil {
		return q, err
	}
	place := values.Get("after")
	if last := r.Header.Get("Last-Event-ID"); last != "" {
		place = last
		q.tail = 0
	}
	if q.after, err = joblog.ParsePlace(place); err != nil {
		return q, err
	}
	q.follow = values.Get("follow") == "true"
	if err = q.choose(values.Get("before"), values.Get("grep")); err != nil {
		return q, err
	}
	q.asEvent = strings.Contains(r.Header.Get("Accept"), "text/event-stream")
	ctx, cancel := context.WithTimeout(r.Context(), a.config.Timeout)
	defer cancel()
	id, err := a.named(ctx, "task", a.config.Store.TaskID, r.PathValue("task"))
	if err != nil {
		return q, err
	}
	if q.task, err = a.config.Store.Task(ctx, id); err != nil {
		return q, err
	}
	if attempt > 0 {
		q.log = q.task.Log(attempt)
		return q, nil
	}
	q.log, err = q.task.NewestLog(ctx, bucket)
	return q, err
}

// choose reads what goes back and what selects.
func (q *logQuery) choose(before, grep string) (err error) {
	if q.before, err = joblog.ParsePlace(before); err != nil {
		return problem.Refuse("before", "give the place of the first line you have", "%.40q is no place in a log", before)
	}
	if grep == "" {
		return nil
	}
	if q.tail > 0 && before == "" {
		return problem.Refuse("grep", "leave out tail", "the end of a log is not searched")
	}
	re, err := pattern.Regexp(grep)
	if err != nil {
		return problem.Refuse("grep", "write a regular expression, such as error|warn", "%s", err)
	}
	q.matches = re.MatchString
	return nil
}

// grown signals when something happens to a task, because its log may have grown. Without
// a hub it never signals, and the caller polls.
func (a *API) grown(ctx context.Context, task weir.ID) (wake <-chan struct{}, stop func()) {
	if a.config.Hub == nil {
		return nil, func() {}
	}
	open, cancel := context.WithTimeout(ctx, beatEvery)
	defer cancel()
	follower, err := a.config.Hub.Follow(open, "", timeline.Filter{Task: task})
	if err != nil {
		return nil, func() {}
	}
	ctx, end := context.WithCancel(ctx)
	grown := make(chan struct{}, 1)
	var group sync.WaitGroup
	group.Go(func() {
		defer follower.Close()
		for {
			if _, err := follower.Next(ctx); err != nil {
				return
			}
			select {
			case grown <- struct{}{}:
			default:
			}
		}
	})
	return grown, func() {
		end()
		group.Wait()
	}
}

// logWriter sends lines, each as a line of JSON or as an event.
type logWriter struct {
	mu      sync.Mutex
	w       http.ResponseWriter
	out     *pacedWriter
	control *http.ResponseController
	asEvent bool
	headed  bool
	// waiting is the number of bytes that were written and not flushed.
	waiting int
}

func newLogWriter(w http.ResponseWriter, asEvent bool) *logWriter {
	return &logWriter{w: w, out: newPacedWriter(w), control: http.NewResponseController(w), asEvent: asEvent}
}

func (o *logWriter) begun() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.headed
}

// head is sent with the first line. The caller holds the mutex.
func (o *logWriter) head() {
	if o.headed {
		return
	}
	o.headed = true
	kind := "application/x-ndjson"
	if o.asEvent {
		kind = "text/event-stream"
	}
	h := o.w.Header()
	h.Set("Content-Type", kind)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Accel-Buffering", "no")
	o.w.WriteHeader(http.StatusOK)
}

// write sends a piece; pieces that follow closely are flushed together.
func (o *logWriter) write(place, name string, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if o.asEvent {
		frame := "data: " + string(text) + "\n\n"
		if name != "" {
			frame = "event: " + name + "\n" + frame
		}
		if place != "" {
			frame = "id: " + place + "\n" + frame
		}
		text = []byte(frame)
	} else {
		text = append(text, '\n')
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.head()
	n, err := o.out.Write(text)
	if o.waiting += n; err == nil && o.waiting >= 32<<10 {
		o.waiting = 0
		err = o.control.Flush()
	}
	return err
}

func (o *logWriter) line(l joblog.Line) error {
	place := l.Place.String()
	return o.write(place, "", LogLine{l.At, l.Stream, l.Text, place})
}

// end tells the client that the log is complete.
func (o *logWriter) end() { _ = o.write("", "end", map[string]bool{"end": true}) } // the flush reports an error

// flush sends the written bytes.
func (o *logWriter) flush() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.head()
	o.waiting = 0
	_ = o.control.Flush() // an error means that the client has gone
	return nil
}

// beat flushes written bytes at once, and sends a heartbeat from time to time, which also
// detects that the client has gone.
func (o *logWriter) beat(ctx context.Context, cancel context.CancelFunc) (stop func()) {
	ctx, end := context.WithCancel(ctx)
	var group sync.WaitGroup
	group.Go(func() {
		const soon = 50 * time.Millisecond
		for last := time.Now(); loop.Wait(ctx, soon, nil); {
			o.mu.Lock()
			var err error
			if time.Since(last) > beatEvery {
				o.head()
				last = time.Now()
				sign := "\n"
				if o.asEvent {
					sign = ":beat\n\n"
				}
				_, err = o.out.Write([]byte(sign))
				o.waiting++
			}
			if o.waiting > 0 && err == nil {
				o.waiting = 0
				err = o.control.Flush()
			}
			o.mu.Unlock()
			if err != nil {
				cancel()
				return
			}
		}
	})
	return func() {
		end()
		group.Wait()
	}
}
