//go:build unix

package chaos

import (
	"cmp"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/testwait"
)

// TestWorkspacesServerKilled repeatedly kills the leading process with -9, or stops it
// and lets it continue when another leads, at any moment, while users work. No home is
// lost, and everything converges.
func TestWorkspacesServerKilled(t *testing.T) {
	t.Parallel()
	killServers(t, 1, 8)
}

func killServers(t *testing.T, seed uint64, rounds int) {
	t.Helper()
	seed = cmp.Or(*workspaceSeed, seed)
	t.Logf("seed %d", seed)
	h := newHouse(t, nil)
	h.open(seed)
	var stopped *exec.Cmd
	for n := range rounds {
		h.let(fmt.Sprintf("round-%d", n), "process", "RUNNING")
		server := h.server()
		h.leads()
		for range 10 + h.pick(15) {
			for _, tenant := range h.tenants {
				h.live(tenant)
			}
			h.passTime(h.tenants...)
			loop.Wait(h.ctx, 20*time.Millisecond, nil)
		}
		if stopped != nil {
			h.signal(stopped, syscall.SIGCONT)
			loop.Wait(h.ctx, time.Duration(h.pick(300))*time.Millisecond, nil)
			h.kill(stopped)
			stopped = nil
		}
		if h.chance(3) && n < rounds-1 {
			h.signal(server, syscall.SIGSTOP)
			h.tally.pauses++
			stopped = server
		} else {
			h.kill(server)
			h.tally.kills++
		}
		// Its term is ended here, as it would be some seconds later.
		h.exec(`update weir.system_locks set expires_at = now() where lock_name = 'coordinator'`)
	}
	server := h.server()
	h.converges()
	h.judgeHomes()
	for _, tenant := range h.tenants {
		if !tenant.deleted.Load() {
			h.want(tenant, "ARCHIVED")
		}
	}
	h.converges()
	h.kill(server)
	h.judgeHomes()
	h.judgeTimeline()
	h.accuses()
	t.Logf("summary: %d servers killed, %d stopped and gone on late; %d wishes, %d files written, %d archives compared: %d findings",
		h.tally.kills, h.tally.pauses, h.tally.wants, h.tally.writes, h.tally.archives, len(h.found))
}

// server starts a process that leads when it may.
func (h *house) server() *exec.Cmd {
	h.Helper()
	command := exec.Command(program(h.T, "controller"), "-database", h.url, "-dir", h.dir, "-program", h.program, "-bucket", strings.TrimPrefix(h.bucket.Name(), "folder://")) // #nosec G204 -- ours
	command.Stderr = h.diary
	command.SysProcAttr = &syscall.SysProcAttr{}
	dieWithParent(command.SysProcAttr)
	if err := command.Start(); err != nil {
		h.Fatal(err)
	}
	h.Cleanup(func() { h.kill(command) })
	return command
}

func (h *house) signal(c *exec.Cmd, s syscall.Signal) {
	h.Helper()
	if err := c.Process.Signal(s); err != nil {
		h.Fatal(err)
	}
}

// kill kills a process, once.
func (h *house) kill(c *exec.Cmd) {
	if c.ProcessState == nil {
		_ = c.Process.Kill() // it may be dead
		_ = c.Wait()         // killed
	}
}

// leads waits until a new term has begun.
func (h *house) leads() {
	h.Helper()
	was := h.epoch.Load()
	testwait.Until(h, "somebody leads", func() bool {
		var epoch int64
		h.scan(`select coalesce(max(epoch), 0) from weir.system_locks where lock_name = 'coordinator' and expires_at > now()`, nil, &epoch)
		h.epoch.Store(epoch)
		return epoch > was
	})
}

// converges waits until everything is as wanted.
func (h *house) converges() {
	h.Helper()
	testwait.Every(h, 20*time.Millisecond, "all is as it is wanted", func() bool {
		for _, t := range h.tenants {
			h.recover(t)
		}
		h.passTime(h.tenants...)
		var all bool
		h.scan(`select coalesce(bool_and(phase = desired and operation = 'NONE'), true) from weir.workspaces`, nil, &all)
		return all
	})
}
