package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"time"

	"github.com/coder/websocket"

	"github.com/weirhq/weir/internal/problem"
)

// terminalProtocol marks typed keys: the proxy counts every one.
const terminalProtocol = "weir.terminal"

// enterWithin is how long entering a workspace may take.
const enterWithin = 30 * time.Second

// Size is the size of a terminal.
type Size struct {
	Rows int `json:"rows"`
	Cols int `json:"cols"`
}

// Terminal is the terminal of a workspace, over a WebSocket.
type Terminal struct {
	conn *websocket.Conn
	// of is the name of the workspace.
	of string
}

// OpenTerminal opens the terminal of a workspace, by a link that opens it once, as the browser would.
// workspace is its name for messages. name is the type of the terminal here; if it is empty, there is
// none, and the shell prints for a program.
func OpenTerminal(ctx context.Context, link, workspace, name string) (*Terminal, error) {
	ctx, cancel := context.WithTimeout(ctx, enterWithin)
	defer cancel()
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, fmt.Errorf("keep cookies: %w", err)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DialContext = dialHere
	client := &http.Client{Transport: transport, Jar: jar}
	at, err := enter(ctx, client, link, workspace)
	if err != nil {
		return nil, err
	}
	origin := at.Scheme + "://" + at.Host
	kind := url.Values{"term": {name}}
	if name == "" {
		kind = url.Values{"plain": {"1"}}
	}
	conn, answer, err := websocket.Dial(ctx, strings.Replace(origin, "http", "ws", 1)+"/terminal?"+kind.Encode(), &websocket.DialOptions{
		HTTPClient: client, HTTPHeader: http.Header{"Origin": {origin}}, Subprotocols: []string{terminalProtocol},
	})
	if err != nil {
		said := err.Error()
		if answer != nil {
			said = answer.Status
		}
		return nil, problem.New(problem.Failed, "open it in a browser instead: weir workspace open "+workspace+"; an image of your own may have no terminal", "the workspace gives no terminal: %s", said)
	}
	conn.SetReadLimit(answerLimit)
	return &Terminal{conn: conn, of: workspace}, nil
}

// enter uses a link. It leads to the workspace itself, with a cookie.
func enter(ctx context.Context, client *http.Client, link, workspace string) (*url.URL, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, link, nil)
	if err != nil {
		return nil, fmt.Errorf("open the workspace: %w", err)
	}
	answer, err := client.Do(r)
	if err != nil {
		return nil, problem.New(problem.Unreachable, "is the host of workspaces known here? workspace_domain must lead to the server", "the workspace does not answer: %s", errors.Unwrap(err))
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, 1<<20)) // the page is for browsers
	if answer.StatusCode >= http.StatusBadRequest {
		return nil, problem.New(problem.Failed, "see why", "the workspace answers %s", answer.Status).Run("weir workspace why " + workspace)
	}
	return answer.Request.URL, nil
}

// dialHere reaches names below localhost on this machine, because not every machine
// resolves them.
func dialHere(ctx context.Context, network, address string) (net.Conn, error) {
	if host, port, err := net.SplitHostPort(address); err == nil && strings.HasSuffix(host, ".localhost") {
		address = net.JoinHostPort("localhost", port)
	}
	var dialer net.Dialer
	return dialer.DialContext(ctx, network, address)
}

// Resize sets the size of the screen.
func (t *Terminal) Resize(ctx context.Context, s Size) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return t.conn.Write(ctx, websocket.MessageText, text)
}

// Write sends typed keys.
func (t *Terminal) Write(ctx context.Context, typed []byte) error {
	return t.conn.Write(ctx, websocket.MessageBinary, typed)
}

// End tells the shell that no more input follows.
func (t *Terminal) End(ctx context.Context) error {
	return t.conn.Write(ctx, websocket.MessageText, []byte(`{"end":true}`))
}

// Print writes the output to out, until the shell or the connection ends. It returns the
// exit code of the shell.
func (t *Terminal) Print(ctx context.Context, out io.Writer) (code int, err error) {
	for {
		kind, text, err := t.conn.Read(ctx)
		var closed websocket.CloseError
		switch {
		case errors.As(err, &closed) && closed.Code == websocket.StatusNormalClosure:
			_, _ = fmt.Sscanf(closed.Reason, "exit %d", &code) // a server that is not Weir's may end without one
			return code, nil
		case err != nil && ctx.Err() != nil:
			return 0, ctx.Err()
		case err != nil:
			return 0, problem.New(problem.Unreachable, "the workspace may have been stopped", "the terminal broke off: %s", err).Run("weir workspace why " + t.of)
		}
		if kind != websocket.MessageBinary {
			continue
		}
		if _, err := out.Write(text); err != nil {
			return 0, err
		}
	}
}

// Close ends the connection.
func (t *Terminal) Close() { _ = t.conn.CloseNow() } // it may have ended
