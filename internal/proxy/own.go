package proxy

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"strings"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/auth/door"
	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/workspace"
	"github.com/weirhq/weir/internal/workspace/ladder"
)

const livePath = workspace.Reserved + "live"

// routes returns the paths that the proxy itself serves on every host.
func (p *Proxy) routes() *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+workspace.EnterPath, p.enter)
	mux.HandleFunc("GET "+livePath, p.live)
	assets, err := fs.Sub(files, "page")
	if err != nil {
		panic(err) // it is embedded in the program
	}
	serve := http.StripPrefix(workspace.Reserved, http.FileServerFS(assets))
	for _, name := range []string{"page.css", "page.js"} {
		mux.HandleFunc("GET "+workspace.Reserved+name, func(w http.ResponseWriter, r *http.Request) {
			setHeaders(w.Header())
			w.Header().Set("Cache-Control", "max-age=60")
			serve.ServeHTTP(w, r)
		})
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		p.refuse(w, r, http.StatusNotFound, say(r.Context(), "visit.nothing"), say(r.Context(), "visit.nothing.next", workspace.Reserved))
	})
	return mux
}

// enter turns a code into the cookie of this host. A preview, as chat programs request
// for a link, does not use the code up.
func (p *Proxy) enter(w http.ResponseWriter, r *http.Request) {
	id, _ := p.config.Address.Workspace(r.Host)
	if r.Method != http.MethodGet || prefetches(r) {
		p.refuse(w, r, http.StatusMethodNotAllowed, say(r.Context(), "visit.link"), "")
		return
	}
	inside, secret, err := p.config.Store.Enter(r.Context(), r.URL.Query().Get("code"), p.config.Address.Host(id))
	if err == nil && inside != id {
		err = problem.New(problem.Unauthenticated, "open the workspace from the dashboard again", "the link is for another workspace")
	}
	if err != nil {
		p.fail(w, r, err)
		return
	}
	setHeaders(w.Header())
	p.setCookie(w, secret, 0)
	next := door.Next(r)
	if strings.HasPrefix(next, workspace.Reserved) {
		next = "/"
	}
	http.Redirect(w, r, next, http.StatusSeeOther) // #nosec G710 -- Next lets only paths of this host through
}

const (
	liveFast, liveSlow = 100 * time.Millisecond, time.Second
	// hurry is how long a waiting page is updated at once.
	hurry = 30 * time.Second
	// beat is the interval of a stream's heartbeats.
	beat = 15 * time.Second
	// writeWithin is how long a browser may take to read a line.
	writeWithin = 10 * time.Second
)

// line is a message to a waiting page. Go means: load the page again.
type line struct {
	Title string `json:"title"`
	Says  string `json:"says"`
	Go    bool   `json:"go,omitempty"`
}

// live sends a waiting page the progress, until the workspace answers.
func (p *Proxy) live(w http.ResponseWriter, r *http.Request) {
	id, _ := p.config.Address.Workspace(r.Host)
	g, err := p.guest(r)
	if err != nil {
		p.fail(w, r, err)
		return
	}
	if g == nil {
		p.stranger(w, r)
		return
	}
	leave, err := p.seats.Take(auth.Subject{Kind: auth.KindUser, ID: g.User.String()})
	if err != nil {
		p.fail(w, r, err)
		return
	}
	defer leave()
	ctx, release := p.guests.hold(r.Context(), g)
	defer release()
	ctx, cancel := context.WithTimeout(ctx, liveMost)
	defer cancel()
	stop := context.AfterFunc(p.ctx, cancel)
	defer stop()
	setHeaders(w.Header())
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no")
	s := &stream{proxy: p, guest: g, id: id, wakes: r.URL.Query().Get("wake") != "", w: w, control: http.NewResponseController(w)}
	_ = s.control.SetReadDeadline(time.Time{}) // not every connection has a deadline
	s.run(ctx)
}

// stream is the connection of one waiting page.
type stream struct {
	proxy   *Proxy
	guest   *guest
	id      weir.ID
	wakes   bool
	w       http.ResponseWriter
	control *http.ResponseController
	told    line
	last    time.Time
}

func (s *stream) run(ctx context.Context) {
	began := time.Now()
	for {
		next, err := s.look(ctx)
		if err != nil || s.tell(next) != nil || next.Go {
			return
		}
		pause := liveSlow
		if time.Since(began) < hurry {
			pause = liveFast
		}
		if !loop.Wait(ctx, pause, nil) {
			return
		}
	}
}

// look returns the message for the page. A page that wakes the workspace retries until
// the start is accepted, because an operation under way has to end first.
func (s *stream) look(ctx context.Context) (line, error) {
	p := s.proxy
	now, err := p.guests.fresh(ctx, s.id)
	if err != nil {
		return line{}, err
	}
	switch {
	case now.over():
		return line{Go: true}, nil
	case now.passable():
		if p.answers(ctx, now) {
			return line{Title: say(ctx, "visit.here"), Go: true}, nil
		}
	case now.Desired == ladder.Running:
		s.wakes = false
	case now.rests() && s.wakes && now.Operation == ladder.None:
		err := p.wake(ctx, s.guest, now)
		if _, over := workspace.LimitOf(err); over {
			return line{Go: true}, nil
		}
	}
	v := p.describe(ctx, now, s.wakes)
	return line{Title: v.Title, Says: strings.TrimSpace(v.Says + " " + v.Next)}, nil
}

// tell writes a new message, and a heartbeat from time to time.
func (s *stream) tell(next line) error {
	text := ": still here\n\n"
	switch {
	case next != s.told:
		body, err := json.Marshal(next)
		if err != nil {
			return err
		}
		text = fmt.Sprintf("data: %s\n\n", body)
	case time.Since(s.last) < beat:
		return nil
	}
	s.told, s.last = next, time.Now()
	_ = s.control.SetWriteDeadline(time.Now().Add(writeWithin)) // not every connection has a deadline
	if _, err := fmt.Fprint(s.w, text); err != nil {
		return err
	}
	return s.control.Flush()
}
