package web

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/timeline"
	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/web/ui"
)

const (
	// liveGap is the least time between two renderings of a page.
	liveGap = 500 * time.Millisecond
	// liveTick is the longest: ages and counters change without an event.
	liveTick = 5 * time.Second
	// liveBeat is how often something is sent, so that both ends notice a
	// connection that is gone.
	liveBeat = 15 * time.Second
	// liveWrite is how long a client may take to read.
	liveWrite = 20 * time.Second
	// liveMost and liveEach bound the streams of a server and of one person.
	liveMost, liveEach = 5_000, 100
)

// liveRun is one rendering of a page for a stream.
type liveRun struct {
	ui.Capture
	follow *timeline.Filter
	failed bool
}

type liveKey struct{}

// liveOf is the rendering that a request is part of, or nil.
func liveOf(ctx context.Context) *liveRun {
	run, _ := ctx.Value(liveKey{}).(*liveRun)
	return run
}

// live is a stream of the fragments of one page: those that differ from what the
// browser has, then those that change.
func (w *Web) live(rw http.ResponseWriter, hr *http.Request) {
	path := hr.URL.Query().Get("path")
	target, err := url.ParseRequestURI(path)
	if err != nil || site.Local(path) != path {
		http.Error(rw, "the path is none", http.StatusBadRequest)
		return
	}
	leave, err := w.seats.Take(auth.From(hr.Context()))
	if err != nil {
		w.showProblem(rw, w.request(hr), err)
		return
	}
	defer leave()
	ctx, cancel := context.WithCancel(hr.Context())
	defer cancel()
	defer context.AfterFunc(w.closed, cancel)()

	h := rw.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	s := &stream{web: w, out: rw, control: http.NewResponseController(rw), request: hr, target: target, has: parseHave(hr.URL.Query().Get("have"))}
	defer s.unfollow()
	s.run(ctx)
}

// stream is a browser that follows a page.
type stream struct {
	web     *Web
	out     http.ResponseWriter
	control *http.ResponseController
	request *http.Request
	target  *url.URL
	// has are the hashes of the fragments in the browser.
	has      map[string]string
	follower *timeline.Follower
	// sent is when something was sent last.
	sent time.Time
}

func (s *stream) run(ctx context.Context) {
	if s.send("hello", s.web.assets.Build()) != nil {
		return
	}
	var filter *timeline.Filter
	for ctx.Err() == nil {
		// Follow first, then look: what happens in between is seen by the
		// next look. Events only say that there is something to look at, so
		// those that came meanwhile are passed over.
		if !s.follow(ctx, filter) {
			return
		}
		run, ok := s.look(ctx)
		if !ok {
			_ = s.send("gone", "")
			return
		}
		if s.sendChanged(run.Fragments) != nil {
			return
		}
		known := filter != nil
		filter = run.follow
		if !known && filter != nil {
			continue // follow before the first wait
		}
		if loop.Wait(ctx, liveGap, nil) {
			s.wait(ctx)
		}
	}
}

// follow goes on from now. Without a hub or a filter the tick alone wakes it.
func (s *stream) follow(ctx context.Context, filter *timeline.Filter) bool {
	if filter == nil || s.web.config.Hub == nil {
		return true
	}
	next, err := s.web.config.Hub.Follow(ctx, "", *filter)
	if err != nil {
		return false
	}
	s.unfollow()
	s.follower = next
	return true
}

func (s *stream) unfollow() {
	if s.follower != nil {
		s.follower.Close()
		s.follower = nil
	}
}

// wait ends with an event that may change the page, or with the tick.
func (s *stream) wait(ctx context.Context) {
	if s.follower == nil {
		loop.Wait(ctx, liveTick-liveGap, nil)
		return
	}
	// An error is the end of ctx, or of the hub; the next follow tells.
	_, _ = s.follower.Within(ctx, liveTick-liveGap)
}

// look renders the page as its reader would see it now: rights that were taken
// away since are gone.
func (s *stream) look(ctx context.Context) (*liveRun, bool) {
	subject, err := s.web.config.Door.Subject(s.request)
	if err != nil || subject.Nobody() {
		return nil, false
	}
	run := &liveRun{}
	ctx = context.WithValue(auth.WithSubject(ctx, subject), liveKey{}, run)
	page := s.request.Clone(ctx)
	page.Method, page.URL, page.RequestURI = http.MethodGet, s.target, s.target.RequestURI()
	page.Body = http.NoBody
	s.web.mux.ServeHTTP(nowhere{}, page)
	return run, !run.failed && len(run.Fragments) > 0
}

func (s *stream) sendChanged(fragments []ui.Fragment) error {
	for _, f := range fragments {
		if s.has[f.ID] == f.Hash {
			continue
		}
		data, err := json.Marshal(f)
		if err != nil {
			return fmt.Errorf("encode a fragment: %w", err)
		}
		if err := s.send("fragment", string(data)); err != nil {
			return err
		}
		s.has[f.ID] = f.Hash
	}
	if time.Since(s.sent) > liveBeat {
		return s.put(":beat\n\n")
	}
	return nil
}

// send writes one event; data has no line break.
func (s *stream) send(event, data string) error {
	return s.put("event: " + event + "\ndata: " + data + "\n\n")
}

func (s *stream) put(text string) error {
	s.sent = time.Now()
	// Not every writer has deadlines; those of a server have.
	_ = s.control.SetWriteDeadline(s.sent.Add(liveWrite))
	if _, err := s.out.Write([]byte(text)); err != nil {
		return fmt.Errorf("send to the browser: %w", err)
	}
	return s.control.Flush()
}

// parseHave reads id:hash,id:hash.
func parseHave(text string) map[string]string {
	has := map[string]string{}
	for part := range strings.SplitSeq(text, ",") {
		if id, hash, ok := strings.Cut(part, ":"); ok && len(has) < 100 {
			has[id] = hash
		}
	}
	return has
}

// nowhere takes a page that is rendered for its fragments alone.
type nowhere struct{}

func (nowhere) Header() http.Header         { return http.Header{} }
func (nowhere) Write(p []byte) (int, error) { return len(p), nil }
func (nowhere) WriteHeader(int)             {}
