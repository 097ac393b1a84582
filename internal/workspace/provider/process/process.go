package process

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/workspace/provider"
)

// Config says where things are.
type Config struct {
	// Dir is where homes and what belongs to them are kept.
	Dir string
	// Program and Args start a workspace: its folder, its lock and its socket follow as
	// --home, --lock and --socket.
	Program string
	Args    []string
	// Grace is how long a process may take to end. Zero: 10 s.
	Grace time.Duration
	// Limits bound a home that is archived or brought back.
	Limits Limits
}

// Provider runs workspaces as processes.
type Provider struct {
	config Config
	// made: the folders are there. Should they vanish, such as with a disk, they are not
	// made again: nobody would notice that everything is gone.
	made atomic.Bool
}

var _ provider.Provider = (*Provider)(nil)

// New makes a provider. Its folders are made when they are needed.
func New(c Config) *Provider {
	if c.Grace <= 0 {
		c.Grace = 10 * time.Second
	}
	return &Provider{config: c}
}

// Name is "process".
func (*Provider) Name() string { return "process" }

// socketMost is how long the path of a socket may be on every system.
const socketMost = 103

// Check says why it cannot work.
func (p *Provider) Check(context.Context) error {
	if len(p.run(weir.ID{}, ".sock")) > socketMost {
		return problem.New(problem.Invalid, "keep the data of Weir in a folder with a shorter path", "workspaces: the path of a socket in %s is too long", p.config.Dir)
	}
	if _, err := os.Stat(p.config.Program); err != nil {
		return fmt.Errorf("workspaces: %w", err)
	}
	return p.folders()
}

func (p *Provider) folders() error {
	if p.made.Load() {
		return nil
	}
	for _, part := range []string{"volumes", "run", "logs"} {
		if err := os.MkdirAll(filepath.Join(p.config.Dir, part), 0o700); err != nil {
			return fmt.Errorf("workspaces: %w", err)
		}
	}
	p.made.Store(true)
	return nil
}

// Look lists folders and locks.
func (p *Provider) Look(ctx context.Context) (provider.World, error) {
	w := provider.World{Containers: map[weir.ID]provider.Container{}, Volumes: map[weir.ID]provider.Volume{}}
	err := p.Check(ctx)
	if err == nil {
		err = p.lookAtVolumes(w.Volumes)
	}
	if err == nil {
		err = p.lookAtProcesses(ctx, w.Containers)
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return provider.World{}, fmt.Errorf("look: %w", err)
	}
	return w, nil
}

func (p *Provider) lookAtVolumes(into map[weir.ID]provider.Volume) error {
	names, err := os.ReadDir(filepath.Join(p.config.Dir, "volumes"))
	if err != nil {
		return err
	}
	for _, entry := range names {
		id, ours := volumeOf(entry.Name())
		if !ours || !entry.IsDir() {
			continue
		}
		h, err := p.state(id)
		if err != nil {
			return fmt.Errorf("%s: %w", entry.Name(), err)
		}
		into[id] = h.Volume
	}
	return nil
}

func (p *Provider) lookAtProcesses(ctx context.Context, into map[weir.ID]provider.Container) error {
	folder := filepath.Join(p.config.Dir, "run")
	return within(folder, "", func(name string) error {
		if !strings.HasSuffix(name, ".lock") {
			return nil
		}
		run, err := readRun(filepath.Join(folder, name))
		if run != nil {
			into[run.ID] = provider.Container{Ready: p.answers(ctx, run.ID), Since: run.Since}
		}
		return err
	})
}

func volumeOf(name string) (weir.ID, bool) {
	text, ours := strings.CutPrefix(name, "ws-")
	text, home := strings.CutSuffix(text, "-home")
	id, err := weir.ParseID(text)
	return id, ours && home && err == nil
}

func (p *Provider) volume(id weir.ID, parts ...string) string {
	return filepath.Join(append([]string{p.config.Dir, "volumes", "ws-" + id.String() + "-home"}, parts...)...)
}

// run is where a process has its lock or its socket. The name is short: the path of a
// socket has to be.
func (p *Provider) run(id weir.ID, kind string) string {
	sum := sha256.Sum256([]byte(id.String()))
	return filepath.Join(p.config.Dir, "run", hex.EncodeToString(sum[:8])+kind)
}

func (p *Provider) log(id weir.ID) string {
	return filepath.Join(p.config.Dir, "logs", "ws-"+id.String()+".log")
}

// held is what is known of a volume.
type held struct {
	provider.Volume
	// Over: its last start has been ended, and does not come again.
	Over bool `json:"over,omitempty"`
}

// state reads what a volume holds.
func (p *Provider) state(id weir.ID) (h held, err error) {
	text, err := os.ReadFile(p.volume(id, "state.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return h, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &h)
	}
	return h, err
}

func (p *Provider) setState(id weir.ID, h held) error {
	text, err := json.Marshal(h)
	if err != nil {
		return err
	}
	return writeWhole(p.volume(id, "state.json"), text)
}

// retire notes that the last start is over.
func (p *Provider) retire(id weir.ID) error {
	h, err := p.state(id)
	if err != nil || h.Marker == "" || h.Over {
		return err
	}
	h.Over = true
	return p.setState(id, h)
}
