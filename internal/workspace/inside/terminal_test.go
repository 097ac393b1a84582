package inside_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/coder/websocket"

	"github.com/weirhq/weir/internal/testwait"
	"github.com/weirhq/weir/internal/workspace/inside"
)

// terminal is the page's end of one.
type terminal struct {
	*bench
	ctx    context.Context
	conn   *websocket.Conn
	screen strings.Builder
}

func (b *bench) terminal() *terminal { return b.terminalAt("/terminal") }

func (b *bench) terminalAt(path string) *terminal {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), testwait.Limit)
	b.Cleanup(cancel)
	conn, answer, err := websocket.Dial(ctx, b.server.URL+path, &websocket.DialOptions{Subprotocols: []string{inside.Protocol}})
	b.ok(err)
	b.Cleanup(func() { _ = conn.CloseNow() })
	if conn.Subprotocol() != inside.Protocol {
		b.Errorf("it speaks %q: %v", conn.Subprotocol(), answer.Header)
	}
	conn.SetReadLimit(1 << 20)
	return &terminal{bench: b, ctx: ctx, conn: conn}
}

func (t *terminal) typed(text string) {
	t.Helper()
	t.ok(t.conn.Write(t.ctx, websocket.MessageBinary, []byte(text)))
}

// until reads what is printed up to a word. Quotes within it keep the echo of what was
// typed from looking like it.
func (t *terminal) until(word string) string {
	t.Helper()
	for !strings.Contains(t.screen.String(), word) {
		_, text, err := t.conn.Read(t.ctx)
		if err != nil {
			t.Fatalf("%v after %q", err, t.screen.String())
		}
		t.screen.Write(text)
	}
	text := t.screen.String()
	t.screen.Reset()
	return text
}

func TestTerminal(t *testing.T) {
	b := newBench(t)
	first, second := b.terminal(), b.terminal()
	first.typed("echo ke''pt > notes.txt; pwd; echo do''ne\r")
	if text := first.until("done"); !strings.Contains(text, b.home) {
		t.Errorf("it begins in %q", text)
	}
	second.typed("cat notes.txt; echo do''ne\r")
	if text := second.until("done"); !strings.Contains(text, "kept") {
		t.Errorf("another terminal sees %q", text)
	}
	if text := b.want(http.StatusOK, "GET", "/files/notes.txt", ""); text != "kept\n" {
		t.Errorf("the editor sees %q", text)
	}
	// Ctrl-C ends what runs, and not the shell. Who says that it waits is in the foreground.
	first.typed("PS1='@''@ '; sh -c 'echo wait\"\"ing; exec cat'\r")
	first.until("waiting")
	first.typed("\x03")
	first.until("@@ ")
	first.typed("echo aga''in\r")
	first.until("again")
	// The shell ends, and with it the connection.
	first.typed("exit\r")
	for {
		if _, _, err := first.conn.Read(first.ctx); err != nil {
			break
		}
	}
	if first.ctx.Err() != nil {
		t.Error("the connection does not end with the shell")
	}
}

// rest reads until the shell has ended, and what it has ended with.
func (t *terminal) rest() (printed, reason string) {
	t.Helper()
	for {
		_, text, err := t.conn.Read(t.ctx)
		if err != nil {
			var closed websocket.CloseError
			if !errors.As(err, &closed) || closed.Code != websocket.StatusNormalClosure {
				t.Fatalf("it ends with %v after %q", err, t.screen.String())
			}
			return t.screen.String(), closed.Reason
		}
		t.screen.Write(text)
	}
}

// The code of a shell that has ended is told.
func TestTerminalExit(t *testing.T) {
	b := newBench(t)
	for typed, want := range map[string]string{"exit 7\r": "exit 7", "true; exit\r": "exit 0", "kill -9 $$\r": "exit 137"} {
		term := b.terminal()
		term.typed(typed)
		if _, reason := term.rest(); reason != want {
			t.Errorf("%q: %q", typed, reason)
		}
	}
}

// A program gets what the shell prints and nothing else: no echo, no prompt, all of it,
// and the code.
func TestPlainShell(t *testing.T) {
	b := newBench(t)
	term := b.terminalAt("/terminal?plain")
	term.typed("[ -t 0 ] || echo no terminal; cat <<end | wc -c\n" + strings.Repeat("0123456789\n", 50_000) + "end\necho wrong >&2; exit 3\n")
	b.ok(term.conn.Write(term.ctx, websocket.MessageText, []byte(`{"rows":10,"cols":10}`)))
	if printed, reason := term.rest(); strings.Join(strings.Fields(printed), " ") != "no terminal 550000 wrong" || reason != "exit 3" {
		t.Errorf("it printed %q and ended with %q", printed, reason)
	}
	// The end of what is typed is the end of the shell, with the code of its last command.
	term = b.terminalAt("/terminal?plain")
	term.typed("false")
	b.ok(term.conn.Write(term.ctx, websocket.MessageText, []byte(`{"end":true}`)))
	if printed, reason := term.rest(); printed != "" || reason != "exit 1" {
		t.Errorf("it printed %q and ended with %q", printed, reason)
	}
	// One that does not read is no reason to wait.
	term = b.terminalAt("/terminal?plain")
	term.typed("exec cat /dev/null\n")
	term.typed(strings.Repeat("x", 200_000))
	if _, reason := term.rest(); reason != "exit 0" {
		t.Errorf("it ended with %q", reason)
	}
}

// A terminal is called what the other side calls it, if that is a name.
func TestTerminalName(t *testing.T) {
	b := newBench(t)
	for query, want := range map[string]string{"": "dumb", "?term=xterm-256color": "xterm-256color", "?term=../evil": "dumb", "?term=a%20b": "dumb"} {
		term := b.terminalAt("/terminal" + query)
		term.typed("echo \"<$TERM>\"; exit\r")
		if printed, _ := term.rest(); !strings.Contains(printed, "<"+want+">") {
			t.Errorf("%q: %q", query, printed)
		}
	}
}

func TestTerminalSize(t *testing.T) {
	b := newBench(t)
	term := b.terminal()
	term.typed("stty size; echo do''ne\r")
	if text := term.until("done"); !strings.Contains(text, "24 80") {
		t.Errorf("at first it is %q", text)
	}
	for _, said := range []string{`{"rows":50,"cols":132}`, `{"rows":0,"cols":10}`, `{"rows":-1}`, `no size`, `{"rows":70000,"cols":1}`, `[]`} {
		b.ok(term.conn.Write(term.ctx, websocket.MessageText, []byte(said)))
	}
	term.typed("stty size; echo do''ne\r")
	if text := term.until("done"); !strings.Contains(text, "50 132") {
		t.Errorf("afterwards it is %q", text)
	}
	// It is told to what runs in it.
	term.typed("trap 'stty size; echo chang''ed' WINCH; echo rea''dy\r")
	term.until("ready")
	b.ok(term.conn.Write(term.ctx, websocket.MessageText, []byte(`{"rows":30,"cols":90}`)))
	testwait.Until(t, "the shell hears of it", func() bool {
		term.typed("\r")
		_, text, err := term.conn.Read(term.ctx)
		b.ok(err)
		term.screen.Write(text)
		return strings.Contains(term.screen.String(), "30 90")
	})
}

// Much output comes whole, however slowly it is read.
func TestTerminalFlood(t *testing.T) {
	b := newBench(t)
	term := b.terminal()
	term.typed("i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done; echo fin''ished\r")
	text := term.until("finished")
	for _, line := range []string{"line 0\r\n", "line 9999\r\n", "line 19999\r\n"} {
		if !strings.Contains(text, line) {
			t.Errorf("%q is missing of %d bytes", line, len(text))
		}
	}
}

// A page that goes takes what it has started with it, but for what shall go on.
func TestTerminalThatIsLeft(t *testing.T) {
	b := newBench(t)
	term := b.terminal()
	term.typed("trap '' HUP; sleep 1000 & echo $! > on; trap - HUP; sleep 1000 & echo $! > pid; echo do''ne\r")
	term.until("done")
	_ = term.conn.CloseNow() // as a lost connection
	wantEnd(b, "pid")
	on := pidOf(b, "on")
	if err := syscall.Kill(on, 0); err != nil {
		t.Errorf("what shall go on has ended: %v", err)
	}
	b.ok(syscall.Kill(on, syscall.SIGKILL))
}

// A workspace that stops takes them all.
func TestTerminalsEndWithTheWorkspace(t *testing.T) {
	b := newBench(t)
	handler, err := inside.New(inside.Config{Home: b.home, Shell: []string{"/bin/sh"}})
	b.ok(err)
	b.server.Config.Handler = handler
	term := b.terminal()
	term.typed("trap '' HUP; sleep 1000 & echo $! > on; trap - HUP; sleep 1000 & echo $! > pid; echo do''ne\r")
	term.until("done")
	b.ok(handler.Close())
	wantEnd(b, "pid")
	wantEnd(b, "on")
}

func pidOf(b *bench, name string) (pid int) {
	b.Helper()
	text, err := os.ReadFile(filepath.Join(b.home, name))
	b.ok(err)
	_, err = fmt.Sscan(string(text), &pid)
	b.ok(err)
	return pid
}

func wantEnd(b *bench, name string) {
	b.Helper()
	pid := pidOf(b, name)
	testwait.Until(b, "the end of what the terminal has started", func() bool {
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		return syscall.Kill(pid, 0) != nil || err != nil || strings.Contains(string(status), "State:\tZ")
	})
}

// No page of another origin gets a terminal.
func TestTerminalOfAnotherOrigin(t *testing.T) {
	b := newBench(t)
	for _, origin := range []string{"https://evil.example", "null", "http://localhost.evil.example"} {
		conn, answer, err := websocket.Dial(b.Context(), b.server.URL+"/terminal", &websocket.DialOptions{HTTPHeader: http.Header{"Origin": {origin}}})
		if err == nil {
			_ = conn.CloseNow() // it should not be
		}
		if err == nil || answer.StatusCode != http.StatusForbidden {
			t.Errorf("%s: %v", origin, err)
		}
	}
}
