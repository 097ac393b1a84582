package program_test

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"github.com/coder/websocket"

	"github.com/weirhq/weir/internal/testwait"
	"github.com/weirhq/weir/internal/workspace/inside"
	"github.com/weirhq/weir/internal/workspace/inside/program"
)

// asProgram makes this binary the program.
const asProgram = "WEIR_TEST_PROGRAM"

// TestMain is the program if it is asked to be, with a context that ends by signals, as
// that of Weir's own binary does.
func TestMain(m *testing.M) {
	if os.Getenv(asProgram) == "" {
		os.Exit(m.Run())
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := program.Run(ctx, os.Args[1:], program.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(99)
	}
}

// terminal is a connection to our own shell in a workspace.
type terminal struct {
	*testing.T
	ctx    context.Context
	conn   *websocket.Conn
	screen strings.Builder
}

func newTerminal(t *testing.T, query string) *terminal {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(asProgram, "yes")
	handler, err := inside.New(inside.Config{Home: t.TempDir(), Shell: []string{self, "shell"}})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(func() {
		if err := handler.Close(); err != nil {
			t.Error(err)
		}
		server.Close()
	})
	ctx, cancel := context.WithTimeout(t.Context(), testwait.Limit)
	t.Cleanup(cancel)
	conn, _, err := websocket.Dial(ctx, server.URL+"/terminal"+query, &websocket.DialOptions{Subprotocols: []string{inside.Protocol}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.CloseNow() }) // it may have ended
	return &terminal{T: t, ctx: ctx, conn: conn}
}

func (t *terminal) send(kind websocket.MessageType, text string) {
	t.Helper()
	if err := t.conn.Write(t.ctx, kind, []byte(text)); err != nil {
		t.Fatal(err)
	}
}

// until reads up to a word.
func (t *terminal) until(word string) {
	t.Helper()
	for !strings.Contains(t.screen.String(), word) {
		_, text, err := t.conn.Read(t.ctx)
		if err != nil {
			t.Fatalf("%v after %q", err, t.screen.String())
		}
		t.screen.Write(text)
	}
}

// end reads to the end, and gives what the shell ended with.
func (t *terminal) end() string {
	t.Helper()
	for {
		_, text, err := t.conn.Read(t.ctx)
		if err != nil {
			var closed websocket.CloseError
			if !errors.As(err, &closed) {
				t.Fatalf("%v after %q", err, t.screen.String())
			}
			return closed.Reason
		}
		t.screen.Write(text)
	}
}

// The code of our own shell comes all the way to whoever runs a command in a workspace.
func TestShellWithoutATerminal(t *testing.T) {
	for name, test := range map[string]struct{ script, printed, reason string }{
		"exit":        {"exit 5\n", "", "exit 5"},
		"well":        {"echo fine\n", "fine\n", "exit 0"},
		"false":       {"false", "", "exit 1"},
		"unknown":     {"nosuchprogram 2>/dev/null\n", "", "exit 127"},
		"syntax":      {") 2>/dev/null\n", "1:1: `)` can only be used to close a subshell\n", "exit 2"},
		"killed":      {"sh -c 'kill -9 $$'\n", "", "exit 137"},
		"terminated":  {"sh -c 'kill $PPID'; while :; do :; done\n", "", "exit 143"},
		"interrupted": {"sh -c 'kill -2 $PPID'; while :; do :; done\n", "", "exit 130"},
	} {
		t.Run(name, func(t *testing.T) {
			term := newTerminal(t, "?plain")
			term.send(websocket.MessageBinary, test.script)
			term.send(websocket.MessageText, `{"end":true}`)
			if reason := term.end(); reason != test.reason || term.screen.String() != test.printed {
				t.Errorf("it printed %q and ended with %q", term.screen.String(), reason)
			}
		})
	}
}

// On a terminal it prompts, and goes on after Ctrl-C and after what it does not understand.
func TestShellOnATerminal(t *testing.T) {
	term := newTerminal(t, "")
	term.until("$ ")
	term.send(websocket.MessageBinary, ")\r")
	term.until("close a subshell")
	term.send(websocket.MessageBinary, "echo code''d $?\r")
	term.until("coded 2")
	term.send(websocket.MessageBinary, "sh -c 'echo wait\"\"ing; exec cat'\r")
	term.until("waiting")
	term.send(websocket.MessageBinary, "\x03")
	term.until("^C")
	_, after, _ := strings.Cut(term.screen.String(), "^C")
	term.screen.Reset()
	term.screen.WriteString(after)
	term.until("$ ") // who still runs would read what is typed
	term.send(websocket.MessageBinary, "echo the''n $?\r")
	term.until("then 130")
	term.send(websocket.MessageBinary, "echo aga''in\r")
	term.until("again")
	term.send(websocket.MessageBinary, "exit 4\r")
	if reason := term.end(); reason != "exit 4" {
		t.Errorf("it ended with %q after %q", reason, term.screen.String())
	}
}

// A Ctrl-C that the shell hears of after the program it ended leaves the next command alone.
func TestCtrlCHeardLate(t *testing.T) {
	term := newTerminal(t, "")
	term.until("$ ")
	term.send(websocket.MessageBinary, "sh -c 'shell=$PPID; (sleep 0.3; kill -2 $shell) & kill -2 $$'\r")
	term.send(websocket.MessageBinary, "echo ended''with $?; sleep 1; echo the''n $?\r")
	term.until("endedwith 130")
	term.until("then 0")
	term.send(websocket.MessageBinary, "exit\r")
	if reason := term.end(); reason != "exit 0" {
		t.Errorf("it ended with %q after %q", reason, term.screen.String())
	}
}
