package inside

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"syscall"

	"github.com/coder/websocket"
)

// terminals are the shells that run.
type terminals struct {
	config Config
	mu     sync.Mutex
	closed bool
	group  sync.WaitGroup
	ends   map[*shell]context.CancelFunc
}

// close ends all shells and waits for them.
func (t *terminals) close() {
	t.mu.Lock()
	t.closed = true
	for _, end := range t.ends {
		end()
	}
	t.mu.Unlock()
	t.group.Wait()
}

// said is a text message of the other side: the size of its terminal, or that nothing
// more is typed. Bytes are what was typed.
type said struct {
	Rows uint16 `json:"rows"`
	Cols uint16 `json:"cols"`
	End  bool   `json:"end"`
}

const typedMost = 1 << 20

// Protocol is the name of what is spoken on the WebSocket of a terminal. By it the proxy
// knows that every byte was typed. When the shell has ended, the reason of the close frame
// is "exit " and its code.
const Protocol = "weir.terminal"

// serve runs a shell on a terminal, or with ?plain on pipes, as a program wants it: no
// prompt, no echo.
func (t *terminals) serve(w http.ResponseWriter, r *http.Request) {
	// Accept refuses a page of another origin.
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{Protocol}})
	if err != nil {
		return // it has been answered
	}
	defer conn.CloseNow()
	conn.SetReadLimit(typedMost)
	ctx, end := context.WithCancel(context.WithoutCancel(r.Context()))
	defer end()
	sh, err := t.begin(r.URL.Query().Has("plain"), r.URL.Query().Get("term"), end)
	if err != nil {
		_ = conn.Close(websocket.StatusInternalError, "the shell does not start") // it has gone otherwise
		return
	}
	defer t.finish(sh)
	go func() {
		defer end()
		if print(ctx, conn, sh) {
			sh.rest(ctx)
			_ = conn.Close(websocket.StatusNormalClosure, fmt.Sprintf("exit %d", t.finish(sh))) // the other side may have gone
		}
	}()
	typed(ctx, conn, sh)
}

// begin starts a shell. end ends it.
func (t *terminals) begin(plain bool, term string, end context.CancelFunc) (*shell, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil, errors.New("the workspace stops")
	}
	sh, err := start(t.config, plain, term)
	if err != nil {
		return nil, err
	}
	if t.ends == nil {
		t.ends = map[*shell]context.CancelFunc{}
	}
	t.ends[sh] = end
	t.group.Add(1)
	return sh, nil
}

// finish hangs up: the shell ends, and what it has started on its terminal does unless it
// was started to go on (nohup). With the workspace, that ends too. It returns the shell's
// exit code.
func (t *terminals) finish(sh *shell) int {
	sh.once.Do(func() {
		sh.hangUp()
		pid := sh.cmd.Process.Pid
		signalSession(pid, syscall.SIGHUP)
		_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
		t.mu.Lock()
		delete(t.ends, sh)
		last := t.closed
		t.mu.Unlock()
		if last {
			signalSession(pid, syscall.SIGKILL)
		}
		_ = sh.cmd.Wait() // the code says how
		sh.code = exitCode(sh.cmd.ProcessState)
		t.group.Done()
	})
	return sh.code
}

// print sends what the shell prints. It reports whether the shell has nothing more to say.
func print(ctx context.Context, conn *websocket.Conn, sh *shell) bool {
	buffer := make([]byte, 32<<10)
	for {
		n, err := sh.out.Read(buffer)
		if n > 0 && conn.Write(ctx, websocket.MessageBinary, buffer[:n]) != nil {
			return false
		}
		if err != nil {
			return true
		}
	}
}

// typed hands on what is typed, until either side ends.
func typed(ctx context.Context, conn *websocket.Conn, sh *shell) {
	for {
		kind, text, err := conn.Read(ctx)
		if err != nil {
			return
		}
		if kind == websocket.MessageBinary {
			if _, err := sh.in.Write(text); err != nil && sh.tty != nil {
				return
			}
			continue
		}
		var s said
		if json.Unmarshal(text, &s) == nil {
			sh.told(s)
		}
	}
}
