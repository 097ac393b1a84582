package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"

	"github.com/weirhq/weir/internal/problem"
)

// Credential is what a machine keeps after joining.
type Credential struct {
	Server     string `json:"server"`
	Node       string `json:"node"`
	Credential string `json:"credential"`
}

// ReadCredential reads the file. It refuses a file that other users may read, because the
// holder of the credential can act as the node.
func ReadCredential(path string) (Credential, error) {
	var c Credential
	is, err := os.Stat(path)
	if err != nil {
		return c, fmt.Errorf("read the credential: %w", err)
	}
	if is.Mode().Perm()&0o077 != 0 {
		return c, problem.New(problem.Invalid, "chmod 600 "+path, "the credential in %s can be read by others on this machine", path)
	}
	text, err := os.ReadFile(path) // #nosec G304 -- the operator names the file
	if err != nil {
		return c, fmt.Errorf("read the credential: %w", err)
	}
	if json.Unmarshal(text, &c) != nil || c.Credential == "" || c.Node == "" {
		return c, problem.New(problem.Invalid, "remove it and join again with a new join token", "%s holds no credential", path)
	}
	return c, nil
}

// Open returns the transport of a machine that has joined, or joins with the one-time
// token and stores the credential in file. It does not use a token while a stored
// credential still works, so that an agent can always be started with the same command.
func Open(ctx context.Context, c Config, file, token string) (*Transport, error) {
	kept, err := ReadCredential(file)
	switch {
	case errors.Is(err, fs.ErrNotExist) && token == "":
		return nil, problem.New(problem.Unauthenticated, "make a join token on the server (weir join create --node "+c.Node+") and start the agent with --join TOKEN", "this machine has not joined: there is no %s", file)
	case errors.Is(err, fs.ErrNotExist):
		return join(ctx, c, file, token)
	case err != nil:
		return nil, err
	}
	if c.Node != "" && c.Node != kept.Node && token == "" {
		return nil, problem.Refuse("node", "start the agent as "+kept.Node+", or join as "+c.Node+" with a new join token", "%s is the credential of the node %q", file, kept.Node)
	}
	known := c
	known.Node, known.Credential = kept.Node, kept.Credential
	t, err := New(known)
	if err != nil || token == "" {
		return t, err
	}
	if c.Node == "" || c.Node == kept.Node {
		err := t.get(ctx, nil, "me")
		if kindOf(err) != problem.Unauthenticated {
			return t, nil // the credential works, or the server is away and the call is retried later
		}
	}
	t.Close()
	return join(ctx, c, file, token)
}

// join exchanges the token for a credential. It creates the file first, because the token
// works only once and the credential must not get lost.
func join(ctx context.Context, c Config, file, token string) (_ *Transport, err error) {
	draft, err := newDraft(file)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, draft.drop()) }()
	c.Credential = ""
	nobody, err := New(c)
	if err != nil {
		return nil, err
	}
	defer nobody.Close()
	kept := Credential{Server: nobody.Server(), Node: c.Node}
	text, err := json.Marshal(map[string]string{"secret": token, "node": c.Node})
	if err != nil {
		return nil, fmt.Errorf("join: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, tryFor)
	defer cancel()
	response, err := nobody.send(ctx, http.MethodPost, "/join", text, nil)
	if err != nil {
		return nil, nobody.unreachable(err)
	}
	defer response.Body.Close()
	if _, _, err := nobody.read(response, &kept); err != nil {
		return nil, fmt.Errorf("join as %s: %w", c.Node, err)
	}
	if err := draft.keep(kept, file); err != nil {
		return nil, err
	}
	c.Credential = kept.Credential
	return New(c)
}

// draft is a file that takes its place when it is complete.
type draft struct{ *os.File }

func newDraft(file string) (*draft, error) {
	folder := filepath.Dir(file)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("make a place for the credential: %w", err)
	}
	f, err := os.CreateTemp(folder, ".credential-*") // made with 0600
	if err != nil {
		return nil, fmt.Errorf("make a place for the credential: %w", err)
	}
	return &draft{f}, nil
}

// keep writes the credential and moves it into place.
func (d *draft) keep(c Credential, file string) error {
	text, err := json.MarshalIndent(c, "", "  ")
	if err == nil {
		_, err = d.Write(append(text, '\n'))
	}
	if err == nil {
		err = d.Sync()
	}
	if err == nil {
		err = os.Rename(d.Name(), file)
	}
	if err != nil {
		return fmt.Errorf("keep the credential: %w", err)
	}
	return nil
}

// drop removes the draft if it was not kept.
func (d *draft) drop() error {
	err := d.Close()
	if removed := os.Remove(d.Name()); removed != nil && !errors.Is(removed, fs.ErrNotExist) {
		err = errors.Join(err, removed)
	}
	return err
}
