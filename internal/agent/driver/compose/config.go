package compose

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/weirhq/weir/internal/agent/driver/http"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/problem"
)

// Config is set by the operator of the machine.
type Config struct {
	// Folder holds the compose files that steps may name. Only the operator should be
	// able to write there. If it is empty, the driver does not work.
	Folder string
	// Notes is a folder for the notes of the driver.
	Notes string
	// Agent names this agent and stays the same over restarts. It keeps the agent's
	// services apart from those of other agents.
	Agent string
	// Host is the engine's address. Empty means DOCKER_HOST, or the default socket.
	Host string
	// Idle is the time without work after which a service is stopped, unless its step
	// says otherwise (10 min).
	Idle time.Duration
	// Up is the timeout for the start of a service, including the pull of its image (10
	// min); Ready is the timeout until the service listens (1 min).
	Up, Ready time.Duration
	// HTTP configures how the service is called.
	HTTP http.Config

	Log *slog.Logger
}

func (c Config) withDefaults() Config {
	if c.Idle == 0 {
		c.Idle = 10 * time.Minute
	}
	if c.Up == 0 {
		c.Up = 10 * time.Minute
	}
	if c.Ready == 0 {
		c.Ready = time.Minute
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

// usual are the default names of a compose file, for steps that name none.
var usual = []string{"compose.yaml", "compose.yml", "docker-compose.yaml", "docker-compose.yml"}

// plain matches a name that no command takes for an option.
var plain = regexp.MustCompile(`\A[a-zA-Z0-9][a-zA-Z0-9._-]{0,100}\z`)

// target resolves what a step asks for.
func (c Config) target(asked *node.Compose) (target, error) {
	var t target
	switch {
	case c.Folder == "":
		return t, problem.New(problem.Forbidden, "have its operator set the folder of compose files", "this node has no compose files")
	case asked == nil || asked.Service == "":
		return t, problem.Refuse("compose.service", "name one of the file", "the step names no service")
	case !plain.MatchString(asked.Service):
		return t, problem.Refuse("compose.service", "name one of the file", "%q is no name of a service", asked.Service)
	case asked.URL == "":
		return t, problem.Refuse("compose.url", "give the address at which the service takes work, such as http://127.0.0.1:8080/run", "the step does not say where")
	}
	file, err := c.file(asked.File)
	if err != nil {
		return t, err
	}
	t = target{File: file, Service: asked.Service, Idle: time.Duration(asked.Idle)}
	if t.Idle <= 0 {
		t.Idle = c.Idle
	}
	t.Project = c.project(file)
	return t, nil
}

// file returns the full path of a compose file in the operator's folder.
func (c Config) file(asked string) (string, error) {
	root, err := os.OpenRoot(c.Folder)
	if err != nil {
		return "", &problem.Problem{Kind: problem.Failed, What: "open the folder of compose files: " + err.Error(), Err: err}
	}
	defer root.Close()
	names := usual
	if asked != "" {
		names = []string{asked}
	}
	for _, name := range names {
		// The os.Root lets no name and no link leave the folder.
		info, err := root.Stat(name)
		switch {
		case err != nil:
			continue
		case !info.Mode().IsRegular():
			return "", problem.Refuse("compose.file", "name a compose file", "%q is no file", name)
		case info.Mode()&0o002 != 0:
			return "", &problem.Problem{
				Kind: problem.Forbidden, Field: "compose.file",
				What: "compose.file: everybody on the node can write to " + name, Next: "have its operator close it: chmod o-w " + name,
			}
		}
		return filepath.Join(c.Folder, name), nil
	}
	p := problem.Refuse("compose.file", "name one of the operator's folder, without a way out of it", "there is no %s", strings.Join(names, " or "))
	p.Kind, p.Err = problem.NotFound, fs.ErrNotExist
	return "", p
}

// project returns a name that keeps the services of one agent and file apart from all
// others.
func (c Config) project(file string) string {
	sum := sha256.Sum256([]byte(c.Agent + "\x00" + file))
	return "weir-" + hex.EncodeToString(sum[:6])
}
