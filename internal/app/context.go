package app

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/weirhq/weir/internal/problem"
)

// Contexts are the servers that a person works with, and which of them commands
// ask. The file holds tokens, so it is its owner's alone (0600); one that others
// can read is refused, as what is in it must be taken for known.
type Contexts struct {
	Current string             `toml:"current,omitempty"`
	Servers map[string]Context `toml:"contexts,omitempty"`

	path string
}

// Context is one server and how to be known there.
type Context struct {
	Server string `toml:"server"`
	Token  string `toml:"token,omitempty"`
	// User and TokenID are for people: whose token it is, and how to name it.
	User    string `toml:"user,omitempty"`
	TokenID string `toml:"token_id,omitempty"`
}

var contextName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$`)

// ReadContexts reads the file of this user. One that is not there is empty.
func ReadContexts() (*Contexts, error) {
	folder, err := os.UserConfigDir()
	if err != nil {
		return nil, fmt.Errorf("find the contexts: %w", err)
	}
	return readContexts(filepath.Join(folder, "weir", "contexts.toml"))
}

func readContexts(path string) (*Contexts, error) {
	c := &Contexts{Servers: map[string]Context{}, path: path}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the contexts: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("read the contexts: %w", err)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return nil, problem.New(problem.Invalid, fmt.Sprintf("take the right from them with: chmod 600 %s, and make new tokens if somebody may have read it", path),
			"%s holds tokens and others may read it (mode %04o)", path, mode)
	}
	if _, err := toml.NewDecoder(f).Decode(c); err != nil {
		return nil, problem.New(problem.Invalid, "mend it, or move it away and log in again", "%s is not a file of contexts: %s", path, err)
	}
	if c.Servers == nil {
		c.Servers = map[string]Context{}
	}
	return c, nil
}

// Write replaces the file whole, so that a reader never sees half of it.
func (c *Contexts) Write() error {
	if err := os.MkdirAll(filepath.Dir(c.path), 0o700); err != nil {
		return fmt.Errorf("write the contexts: %w", err)
	}
	f, err := os.CreateTemp(filepath.Dir(c.path), ".contexts-*.toml") // 0600
	if err != nil {
		return fmt.Errorf("write the contexts: %w", err)
	}
	err = toml.NewEncoder(f).Encode(c)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), c.path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write the contexts: %w", err), os.Remove(f.Name()))
	}
	return nil
}

// Path is where the file is.
func (c *Contexts) Path() string { return c.path }

// Names are those of all contexts, in order.
func (c *Contexts) Names() []string { return slices.Sorted(maps.Keys(c.Servers)) }

// Get finds a context by its name.
func (c *Contexts) Get(name string) (Context, error) {
	found, ok := c.Servers[name]
	if !ok {
		return Context{}, problem.New(problem.NotFound, "see what there is", "there is no context %q", name).Run("weir context list")
	}
	return found, nil
}

// Set adds a context, or replaces it. The first one becomes the current one.
func (c *Contexts) Set(name string, context Context) (err error) {
	if !contextName.MatchString(name) {
		return problem.Refuse("name", "use letters, digits, dots and dashes", "%q is no name for a context", name)
	}
	if context.Server, err = ServerURL(context.Server); err != nil {
		return err
	}
	if c.Servers[name] = context; c.Current == "" {
		c.Current = name
	}
	return nil
}

// Remove forgets a context.
func (c *Contexts) Remove(name string) {
	if delete(c.Servers, name); c.Current == name {
		c.Current = ""
	}
}

// tokenFor is the token of a context of that server, the current one first.
func (c *Contexts) tokenFor(server string) string {
	for _, name := range append([]string{c.Current}, c.Names()...) {
		if found, ok := c.Servers[name]; ok && found.Server == server && found.Token != "" {
			return found.Token
		}
	}
	return ""
}

// ServerURL brings the address of a server into one form: without a scheme it
// is https, and on this machine http.
func ServerURL(text string) (string, error) {
	const next = "write it so: https://weir.example.org"
	text = strings.TrimSpace(text)
	if text == "" {
		return "", problem.Refuse("server", next, "the address is empty")
	}
	if !strings.Contains(text, "://") {
		scheme := "https://"
		if u, err := url.Parse("http://" + text); err == nil && loopback(u.Hostname()) {
			scheme = "http://"
		}
		text = scheme + text
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Hostname() == "":
		return "", problem.Refuse("server", next, "%q is no address", text)
	case u.Scheme != "http" && u.Scheme != "https":
		return "", problem.Refuse("server", next, "%s:// is neither http nor https", u.Scheme)
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return "", problem.Refuse("server", next, "give only the scheme, the host and the path")
	}
	u.Path = strings.TrimRight(u.Path, "/")
	return u.String(), nil
}

// InTheClear says that what is sent to the server can be read on the way.
func InTheClear(server string) bool {
	u, err := url.Parse(server)
	return err == nil && u.Scheme == "http" && !loopback(u.Hostname())
}

func loopback(host string) bool {
	return host == "localhost" || host == "::1" || strings.HasPrefix(host, "127.")
}
