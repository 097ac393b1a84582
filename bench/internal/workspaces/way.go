package workspaces

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"
)

const (
	// manyMost is how many connections a client or a proxy keeps: more than are used.
	manyMost = 128
	// smallBody and echoBody are the sizes of a small answer and of a message.
	smallBody, echoBody = 1 << 10, 64
)

// backend is the server that all ways lead to.
func backend() (*http.Server, net.Listener, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	small, block := make([]byte, smallBody), make([]byte, 1<<20)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /small", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(small) })
	mux.HandleFunc("GET /large", func(w http.ResponseWriter, r *http.Request) {
		var n int
		_, _ = fmt.Sscan(r.URL.RawQuery, &n)
		w.Header().Set("Content-Length", fmt.Sprint(n<<20))
		for range n {
			if _, err := w.Write(block); err != nil {
				return
			}
		}
	})
	mux.HandleFunc("GET /echo", func(w http.ResponseWriter, r *http.Request) {
		conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
		if err != nil {
			return
		}
		defer conn.CloseNow()
		for {
			kind, text, err := conn.Read(r.Context())
			if err != nil || conn.Write(r.Context(), kind, text) != nil {
				return
			}
		}
	})
	server := &http.Server{Handler: mux}
	go func() { _ = server.Serve(listener) }() // until it is closed
	return server, listener, nil
}

// Gate are the ways to one backend: direct, through a bare reverse proxy, and through
// Weir's.
type Gate struct {
	child *child
	back  *http.Server
	ways  map[string]*visit
}

// Ways are their names, in the order of the tables.
var Ways = []string{"direct", "bare", "weir"}

// OpenGate starts the backend and the process with the proxies.
func OpenGate(ctx context.Context, b *Base) (g *Gate, err error) {
	g = &Gate{ways: map[string]*visit{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, g.Close())
		}
	}()
	back, at, err := backend()
	if err != nil {
		return g, err
	}
	g.back = back
	id, err := b.running(ctx, "gate")
	if err != nil {
		return g, err
	}
	if g.child, err = startPart("gate", gate{DatabaseURL: b.URL, Backend: at.Addr().String()}); err != nil {
		return g, err
	}
	var where gate
	if err := g.child.hear(&where); err != nil {
		g.child = nil
		return g, err
	}
	for name, address := range map[string]string{"direct": at.Addr().String(), "bare": where.Bare} {
		g.ways[name] = &visit{base: "http://" + address, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: manyMost, DisableCompression: true}}}
	}
	g.ways["weir"], err = enter(ctx, b.Store, b.User, id, addressOf(where.Weir), where.Weir)
	return g, err
}

// Close ends the backend and the process.
func (g *Gate) Close() (err error) {
	for _, v := range g.ways {
		v.close()
	}
	if g.child != nil {
		err = g.child.stop()
	}
	if g.back != nil {
		err = errors.Join(err, g.back.Close())
	}
	return err
}

// ask sends one request and reads the answer. It returns how long that took, and how many
// bytes arrived.
func (v *visit) ask(ctx context.Context, path string) (time.Duration, int64, error) {
	began := time.Now()
	answer, err := v.get(ctx, v.base+path)
	if err != nil {
		return 0, 0, err
	}
	n, err := io.Copy(io.Discard, answer.Body)
	if err := errors.Join(err, answer.Body.Close()); err != nil {
		return 0, 0, err
	}
	if answer.StatusCode != http.StatusOK {
		return 0, 0, fmt.Errorf("%s%s: %s", v.base, path, answer.Status)
	}
	return time.Since(began), n, nil
}

// Asked is the measurement of one way.
type Asked struct {
	// Took are milliseconds of each request or message.
	Took    []float64
	Elapsed time.Duration
	Bytes   int64
}

// add adds another turn.
func (a *Asked) add(b Asked) {
	a.Took, a.Elapsed, a.Bytes = append(a.Took, b.Took...), a.Elapsed+b.Elapsed, a.Bytes+b.Bytes
}

// Rate returns requests per second.
func (a Asked) Rate() float64 { return float64(len(a.Took)) / a.Elapsed.Seconds() }

// MBps returns how many million bytes arrived per second.
func (a Asked) MBps() float64 { return float64(a.Bytes) / 1e6 / a.Elapsed.Seconds() }

// turns lets the ways take turns, so that other load on the machine affects all. The
// first turn of each does not count.
func (g *Gate) turns(rounds int, turn func(v *visit) (Asked, error)) (map[string]Asked, error) {
	all := map[string]Asked{}
	for round := range rounds + 1 {
		for i := range Ways {
			name := Ways[(i+round)%len(Ways)]
			found, err := turn(g.ways[name])
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			if round > 0 {
				sum := all[name]
				sum.add(found)
				all[name] = sum
			}
		}
	}
	return all, nil
}

// Small requests small answers, atOnce at a time, each way for the given time in each
// round.
func (g *Gate) Small(ctx context.Context, rounds, atOnce int, length time.Duration) (map[string]Asked, error) {
	return g.turns(rounds, func(v *visit) (Asked, error) {
		began := time.Now()
		var mu sync.Mutex
		var sum Asked
		var failed error
		var all sync.WaitGroup
		for range atOnce {
			all.Go(func() {
				var mine Asked
				var err error
				for time.Since(began) < length && err == nil {
					var took time.Duration
					if took, _, err = v.ask(ctx, "/small"); err == nil {
						mine.Took = append(mine.Took, ms(took))
					}
				}
				mu.Lock()
				defer mu.Unlock()
				sum.add(mine)
				failed = errors.Join(failed, err)
			})
		}
		all.Wait()
		sum.Elapsed = time.Since(began)
		return sum, failed
	})
}

// Large requests an answer of the given size in MiB.
func (g *Gate) Large(ctx context.Context, rounds, size int) (map[string]Asked, error) {
	return g.turns(rounds, func(v *visit) (Asked, error) {
		took, n, err := v.ask(ctx, fmt.Sprintf("/large?%d", size))
		if err == nil && n != int64(size)<<20 {
			err = fmt.Errorf("%d bytes came", n)
		}
		return Asked{[]float64{ms(took)}, took, n}, err
	})
}

// Echo sends messages over a WebSocket and waits for each to come back.
func (g *Gate) Echo(ctx context.Context, rounds int, length time.Duration) (map[string]Asked, error) {
	return g.turns(rounds, func(v *visit) (sum Asked, err error) {
		header := http.Header{}
		if v.cookie != "" {
			header.Set("Cookie", v.cookie)
		}
		conn, _, err := websocket.Dial(ctx, "ws"+v.base[len("http"):]+"/echo", &websocket.DialOptions{HTTPClient: v.client, HTTPHeader: header})
		if err != nil {
			return sum, err
		}
		defer conn.CloseNow()
		message := make([]byte, echoBody)
		for began := time.Now(); time.Since(began) < length; {
			sent := time.Now()
			if err := conn.Write(ctx, websocket.MessageBinary, message); err != nil {
				return sum, err
			}
			if _, back, err := conn.Read(ctx); err != nil || len(back) != echoBody {
				return sum, errors.Join(err, fmt.Errorf("%d bytes came back", len(back)))
			}
			took := time.Since(sent)
			sum.add(Asked{[]float64{ms(took)}, took, echoBody})
		}
		return sum, conn.Close(websocket.StatusNormalClosure, "")
	})
}
