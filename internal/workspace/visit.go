package workspace

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/problem"
)

// EnterPath is where a workspace's host takes a code. All paths below Reserved are the
// door's own and never reach a workspace.
const (
	Reserved  = "/_weir/"
	EnterPath = Reserved + "enter"
)

// Address says where browsers find workspaces: each has a host of its own, so that none
// shares cookies, storage or rights with another or with the dashboard.
type Address struct {
	// Scheme is http or https, as the browser sees it.
	Scheme string
	// Domain is what the hosts end with: ws-{id}.{Domain}.
	Domain string
	// Port is empty for the usual one of the scheme.
	Port string
}

// Secure says that browsers come by https.
func (a Address) Secure() bool { return a.Scheme == "https" }

// Host is the name of a workspace's host, without a port.
func (a Address) Host(id weir.ID) string {
	return "ws-" + id.String() + "." + strings.ToLower(a.Domain)
}

// URL is where a workspace begins, without a slash at the end.
func (a Address) URL(id weir.ID) string {
	host := a.Host(id)
	if a.Port != "" {
		host = net.JoinHostPort(host, a.Port)
	}
	return a.Scheme + "://" + host
}

// Workspace reads a Host header. Only the one spelling that Host writes stands for a
// workspace: a cookie or a code belongs to a host by its name. The port does not matter,
// for a proxy before us may have another.
func (a Address) Workspace(header string) (id weir.ID, ok bool) {
	name, port, found := strings.Cut(header, ":")
	if found && (port == "" || strings.Trim(port, "0123456789") != "") {
		return id, false
	}
	text, cut := strings.CutPrefix(strings.ToLower(name), "ws-")
	text, in := strings.CutSuffix(text, "."+strings.ToLower(a.Domain))
	if !cut || !in || a.Domain == "" {
		return id, false
	}
	id, err := weir.ParseID(text)
	return id, err == nil && id.String() == text
}

// mayEnter is nil, or says why somebody may not open a workspace. One that runs on this
// machine itself can do what the server can: that is for admins.
func mayEnter(by auth.Subject, w *Workspace) error {
	if err := auth.Allow(by, auth.Command, auth.Object{Kind: "workspace", Owner: w.OwnerID.String()}); err != nil {
		return err
	}
	return MayLive(by, w.Provider)
}

// Open makes a link that lets somebody into a workspace: it works once, for half a
// minute, on the host of that workspace. next is the path to begin with. A part of the
// system, such as a command on the database, comes in as the owner.
func (s *Store) Open(ctx context.Context, by auth.Subject, id weir.ID, at Address, next string) (string, error) {
	w, err := s.Workspace(ctx, id)
	if err != nil {
		return "", err
	}
	if err := mayEnter(by, &w); err != nil {
		return "", err
	}
	user := by.UserID
	if by.Kind == auth.KindSystem {
		user = w.OwnerID.String()
	}
	var session, token string
	switch by.Kind {
	case auth.KindUser:
		session = by.Session
	case auth.KindToken:
		token = by.ID
	}
	if by.Kind == auth.KindUser && session == "" {
		return "", problem.New(problem.Unauthenticated, "log in again", "a workspace opens for a session, and there is none")
	}
	code := newKey()
	if err := s.makeCode(ctx, id, user, hashKey(code), at.Host(id), session, token); err != nil {
		return "", err
	}
	return at.URL(id) + EnterPath + "?" + url.Values{"code": {code}, "next": {next}}.Encode(), nil
}

// Enter turns a code into the secret of a visit, which is for the browser alone.
func (s *Store) Enter(ctx context.Context, code, host string) (id weir.ID, secret string, err error) {
	if len(code) != keyLength {
		return id, "", refusedCode()
	}
	secret = newKey()
	which, err := s.useCode(ctx, hashKey(code), host, hashKey(secret))
	if err != nil {
		return id, "", err
	}
	if which == nil {
		return id, "", refusedCode()
	}
	return *which, secret, nil
}

func refusedCode() error {
	return problem.New(problem.Unauthenticated, "open the workspace from the dashboard again", "the link works once and not for long, and this one no longer does")
}

// Visit is somebody who is inside.
type Visit struct {
	Workspace weir.ID
	User      weir.ID
	Name      string
}

// Inside says who is inside with a secret on a host; nil: nobody, or no longer. used
// says that they did something, which keeps their session alive.
func (s *Store) Inside(ctx context.Context, secret, host string, used bool) (*Visit, error) {
	if len(secret) != keyLength {
		return nil, nil
	}
	return s.visit(ctx, hashKey(secret), host, used)
}

// Use is when a workspace was last used: so long ago, and by what. It is told as an age,
// for the clocks of servers differ and the database's is the one that counts.
type Use struct {
	ID     weir.ID
	Ago    time.Duration
	Source string
}

// UseChannel is where servers hear that somebody wants to know what is used.
const UseChannel = "weir_workspace_use"

// keyLength is that of 32 random bytes as text.
const keyLength = 43

func newKey() string {
	var bits [32]byte
	_, _ = rand.Read(bits[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(bits[:])
}

func hashKey(key string) []byte {
	sum := sha256.Sum256([]byte(key))
	return sum[:]
}
