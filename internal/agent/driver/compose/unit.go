package compose

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/problem"
)

// target is a service of a compose file, and how long it may idle.
type target struct {
	Project string        `json:"project"`
	File    string        `json:"file"`
	Service string        `json:"service"`
	Idle    time.Duration `json:"idle"`
}

func (t target) name() string { return t.Project + "-" + t.Service }

// unit is a service of a compose file that this agent uses.
type unit struct {
	driver *Driver

	// turn is held while the service is started or stopped.
	turn sync.Mutex
	// up is set if the service was started and no call has failed since.
	up bool
	// noted is the content of the note.
	noted string

	// The driver's lock guards the rest.
	target
	// services are the services of Weir whose tasks use the unit.
	Services []string `json:"services"`
	users    int
	last     time.Time
}

// note returns the path of the file that records the unit.
func (u *unit) note() string { return filepath.Join(u.driver.cfg.Notes, "compose-"+u.name()+".json") }

// remember records the unit before it is used.
func (u *unit) remember() error {
	if u.driver.cfg.Notes == "" {
		return nil
	}
	u.driver.mu.Lock()
	text, err := json.Marshal(u)
	u.driver.mu.Unlock()
	if err != nil || string(text) == u.noted {
		return err
	}
	if err := os.WriteFile(u.note(), text, 0o600); err != nil {
		return fmt.Errorf("note that a service is started: %w", err)
	}
	u.noted = string(text)
	return nil
}

// ensure starts the service unless it is up, and waits until it listens.
func (u *unit) ensure(ctx context.Context, t target, address string, say func(string)) error {
	u.turn.Lock()
	defer u.turn.Unlock()
	if err := u.remember(); err != nil || u.up {
		return err
	}
	say("starting " + t.Service)
	text, err := u.driver.compose(ctx, t, u.driver.cfg.Up, "up", "--detach")
	for line := range strings.Lines(string(text)) {
		say(line)
	}
	if err != nil {
		return err
	}
	if err := u.listens(ctx, t, address); err != nil {
		return err
	}
	u.up = true
	return nil
}

// listens waits until the service accepts connections.
func (u *unit) listens(ctx context.Context, t target, address string) error {
	ctx, cancel := context.WithTimeout(ctx, u.driver.cfg.Ready)
	defer cancel()
	for {
		err := u.driver.http.Reach(ctx, address)
		refusal := new(problem.Problem)
		if err == nil || errors.As(err, &refusal) {
			return err
		}
		if !loop.Wait(ctx, 100*time.Millisecond, nil) {
			return &problem.Problem{
				Kind: problem.Unreachable, What: fmt.Sprintf("%s was started but does not listen: %v", t.Service, err),
				Next: "check compose.url against the ports of the service, and look at its logs", Err: err,
			}
		}
	}
}

// stop stops the service if it has no users.
func (u *unit) stop(ctx context.Context) error {
	u.turn.Lock()
	defer u.turn.Unlock()
	d := u.driver
	d.mu.Lock()
	used, t := u.users > 0, u.target
	d.mu.Unlock()
	if used {
		return nil
	}
	u.up, u.noted = false, ""
	if _, err := d.compose(ctx, t, 2*time.Minute, "stop", "--timeout", "10"); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	// A new user may have arrived while this call held the turn: then the unit stays.
	if u.users == 0 {
		delete(d.units, u.name())
	}
	if d.cfg.Notes == "" {
		return nil
	}
	if err := os.Remove(u.note()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("forget that a service was started: %w", err)
	}
	d.cfg.Log.Info("stopped an idle service", "service", t.Service, "file", t.File)
	return nil
}
