//go:build unix

package chaos

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/testwait"
	"github.com/weirhq/weir/internal/vault"
)

// hall is a Weir with PCs: a server and agents of PCs, each a process of the product.
type hall struct {
	*site
	// dir is where work leaves its marks.
	dir string
}

// workplace is a PC of a hall.
type workplace struct {
	*hall
	name    string
	dir     string
	args    []string
	process *os.Process
}

func newHall(t *testing.T) *hall {
	t.Helper()
	h := &hall{site: &site{run: newRun(t)}, dir: t.TempDir()}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	t.Cleanup(cancel)
	h.ctx = ctx
	keys := filepath.Join(t.TempDir(), "secret.key")
	if _, err := vault.LoadKeys(keys, true); err != nil {
		t.Fatal(err)
	}
	h.environment = append(os.Environ(), "WEIR_DATABASE_URL="+h.url, "WEIR_SECRET_KEY_FILE="+keys,
		"WEIR_DATA="+t.TempDir(), "WEIR_COORDINATOR_TTL=3s", "WEIR_COORDINATOR_ACTIVE_INTERVAL=100ms",
		"WEIR_AGENT_KEEP=none") // work is dead when its lease is over
	h.server()
	return h
}

// pc starts the agent of a PC.
func (h *hall) pc(name string, args ...string) *workplace {
	h.Helper()
	return h.place(name, append([]string{"--pc", name}, args...))
}

// node starts the agent of a machine without devices.
func (h *hall) node(name string, args ...string) *workplace {
	h.Helper()
	return h.place(name, append([]string{"--node", name}, args...))
}

func (h *hall) place(name string, args []string) *workplace {
	h.Helper()
	w := &workplace{hall: h, name: name, dir: h.TempDir(), args: args}
	h.Cleanup(func() {
		keepers, err := Keepers(w.dir)
		if err != nil {
			h.Error(err)
		}
		for _, pid := range keepers {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
		}
		if h.Failed() {
			said, _ := os.ReadFile(filepath.Join(w.dir, "said")) // #nosec G304 -- ours
			h.Logf("%s said:\n%s", name, said)
		}
	})
	w.start()
	return w
}

// start starts the agent again. Its output goes to a file, because its keepers hold a
// pipe open for longer than the agent lives.
func (w *workplace) start() {
	w.Helper()
	cmd := w.command(append([]string{"agent", "--dir", filepath.Join(w.dir, "agent")}, w.args...)...)
	cmd.Env = append(slices.Clone(cmd.Env), "PATH="+os.Getenv("PATH")+string(os.PathListSeparator)+w.dir)
	said, err := os.OpenFile(filepath.Join(w.dir, "said"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600) // #nosec G304 -- ours
	if err != nil {
		w.Fatal(err)
	}
	defer said.Close()
	cmd.Stdout, cmd.Stderr = said, said
	if err := cmd.Start(); err != nil {
		w.Fatal(err)
	}
	w.process = cmd.Process
	over := make(chan struct{})
	go func() {
		_ = cmd.Wait() // it is killed, sooner or later
		close(over)
	}()
	w.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		<-over
	})
}

// kill ends the agent with -9. Its keepers stay.
func (w *workplace) kill() { _ = w.process.Kill() } // it may have ended

// listed writes a file of devices, and returns a function to change it: those with the
// hub come first, the others are attached to the PC itself.
func (h *hall) listed(pc string, hub, alone int) (path string, rewrite func(withHub bool)) {
	h.Helper()
	path = filepath.Join(h.TempDir(), "devices.yaml")
	rewrite = func(withHub bool) {
		h.Helper()
		var b strings.Builder
		b.WriteString("devices:\n")
		for i := range hub + alone {
			switch {
			case i >= hub:
				fmt.Fprintf(&b, "  - {serial: %s-%02d}\n", pc, i+1)
			case withHub:
				fmt.Fprintf(&b, "  - {serial: %s-%02d, hub: hub-1}\n", pc, i+1)
			}
		}
		if err := os.WriteFile(path+".new", []byte(b.String()), 0o600); err != nil {
			h.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			h.Fatal(err)
		}
	}
	rewrite(true)
	return path, rewrite
}

// program is work that records in a file that it began, waits until it is let go, and
// then ends at once.
func (h *hall) program() string {
	script := fmt.Sprintf(`echo $WEIR_ATTEMPT >> "%[1]s/$WEIR_DEVICE_SERIAL.begun"; while [ ! -e "%[1]s/go" ]; do sleep 0.5; done; echo $WEIR_ATTEMPT >> "%[1]s/$WEIR_DEVICE_SERIAL.ended"`, h.dir)
	return fmt.Sprintf(`"run": {"argv": ["sh", "-c", %q]}, "target": {"all": true}, "backoff": "0s", "linger": "10m"`, script)
}

// letGo lets work end.
func (h *hall) letGo() {
	h.Helper()
	if err := os.WriteFile(filepath.Join(h.dir, "go"), nil, 0o600); err != nil {
		h.Fatal(err)
	}
}

// marks counts files that work left.
func (h *hall) marks(what string) int {
	h.Helper()
	list, err := filepath.Glob(filepath.Join(h.dir, "*."+what))
	if err != nil {
		h.Fatal(err)
	}
	return len(list)
}

// fleet submits a job after the given number of devices is known.
func (h *hall) fleet(devices int, spec string) (job weir.ID) {
	h.Helper()
	h.wait(fmt.Sprintf("%d devices are known", devices), func() bool {
		return h.count(`select count(*) from weir.devices where online and missing_at is null`) == devices
	})
	if err := h.pool.QueryRow(h.ctx, `select weir.fleet_submit('test', $1, 'ann')`, "{"+spec+"}").Scan(&job); err != nil {
		h.Fatal(err)
	}
	return job
}

func (h *hall) count(query string, args ...any) (n int) {
	h.Helper()
	if err := h.pool.QueryRow(h.ctx, query, args...).Scan(&n); err != nil {
		h.Fatalf("%s: %v", query, err)
	}
	return n
}

func (h *hall) wait(what string, ok func() bool) {
	h.Helper()
	if !h.within(testwait.Limit, ok) {
		h.Fatalf("not within %s: %s; units: %s", testwait.Limit, what, h.units())
	}
}

// units returns how many units of all jobs are in which state.
func (h *hall) units() (text string) {
	h.Helper()
	if err := h.pool.QueryRow(h.ctx, `select coalesce(string_agg(n || ' ' || state, ', ' order by state), '') from (select state, count(*) as n from weir.fleet_units group by state) u`).Scan(&text); err != nil {
		h.Fatal(err)
	}
	return text
}

func (h *hall) become(want string) {
	h.Helper()
	h.wait("the units are "+want, func() bool { return h.units() == want })
}

func (h *hall) running() int {
	return h.count(`select count(*) from weir.running where device is not null`)
}

// heldLease is a lease that an agent holds.
type heldLease struct {
	Task    weir.ID
	Attempt int
	Token   weir.ID
}

func (h *hall) leases() []heldLease {
	h.Helper()
	rows, err := h.pool.Query(h.ctx, `select task, attempt::int, token from weir.running where device is not null`)
	if err != nil {
		h.Fatal(err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[heldLease])
	if err != nil {
		h.Fatal(err)
	}
	return list
}

// nobodyPaid checks that no device is worse for what happened, and no budget is smaller.
func (h *hall) nobodyPaid() {
	h.Helper()
	if n := h.count(`select count(*) from weir.devices where health not in ('good', 'unknown')`); n > 0 {
		h.Errorf("%d devices were punished", n)
	}
	if n := h.count(`select coalesce(sum(infra), 0) from weir.fleet_units`); n > 0 {
		h.Errorf("%d attempts of the infrastructure were spent", n)
	}
	// All attempts except the last one are forgiven.
	if n := h.count(`select count(*) from weir.fleet_units u join weir.finished f on f.task = u.task left join weir.forgiven g on g.task = u.task
		where f.attempt - coalesce(g.crashes + g.returns, 0) > 1`); n > 0 {
		h.Errorf("%d runs spent an attempt", n)
	}
}

// concludes ends a test: the doctor reports no fault, and nothing is left on the PCs.
func (h *hall) concludes(places ...*workplace) {
	h.Helper()
	for _, w := range places {
		h.gone(w)
	}
	if found := h.run.doctor(); len(found) > 0 {
		h.Errorf("%s", Report(found))
	}
}

// gone waits until no work of a PC lives.
func (h *hall) gone(w *workplace) {
	h.Helper()
	var left []string
	if !h.within(testwait.Limit, func() bool {
		var err error
		if left, err = Remains(w.dir, true); err != nil {
			h.Fatal(err)
		}
		return len(left) == 0
	}) {
		h.Errorf("work is left on %s: %q", w.name, left)
	}
}

// texts returns the first column of all rows.
func (h *hall) texts(query string, args ...any) []string {
	h.Helper()
	rows, err := h.pool.Query(h.ctx, query, args...)
	if err != nil {
		h.Fatalf("%s: %v", query, err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		h.Fatalf("%s: %v", query, err)
	}
	return list
}
