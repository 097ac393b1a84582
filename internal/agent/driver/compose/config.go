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

// Config is what the operator of the machine says.
type Config struct {
	// Folder holds the compose files that steps may name. Nobody but the operator
	// should be able to write there. Empty: the driver does not work.
	Folder string
	// Notes is a folder for what the driver has to remember.
	Notes string
	// Agent names this agent, the same over restarts: its services are apart from
	// those of others.
	Agent string
	// Host is the engine's address. Empty: DOCKER_HOST, or the usual socket.
	Host string
	// Idle is after how long without work a service is stopped, unless its step
	// says otherwise (10 min).
	Idle time.Duration
	// Up is the deadline of the start of a service, with the pull of its image
	// (10 min); Ready is that until it listens (1 min).
	Up, Ready time.Duration
	// HTTP is how the service is called.
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

// usual names of a compose file, for steps that give none.
var usual = []string{"compose.yaml", "compose.yml", "docker-compose.yaml", "docker-compose.yml"}

// plain is a name that no command takes for an option.
var plain = regexp.MustCompile(`\A[a-zA-Z0-9][a-zA-Z0-9._-]{0,100}\z`)

// target reads what a step asks for.
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

// file is the full path of a compose file of the operator's folder.
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
		// The root lets no name and no link out of the folder.
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

// project keeps the services of one agent and file apart from all others.
func (c Config) project(file string) string {
	sum := sha256.Sum256([]byte(c.Agent + "\x00" + file))
	return "weir-" + hex.EncodeToString(sum[:6])
}
