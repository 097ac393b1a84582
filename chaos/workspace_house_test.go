//go:build unix

package chaos

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/blob"
	"github.com/weirhq/weir/internal/blob/blobtest"
	"github.com/weirhq/weir/internal/testdb"
	"github.com/weirhq/weir/internal/testwait"
	"github.com/weirhq/weir/internal/workspace/provider"
	"github.com/weirhq/weir/internal/workspace/provider/process"
)

// house is where workspaces live, through one run after another: a database, a provider
// and a bucket. It knows what must be in each home.
type house struct {
	*testing.T
	ctx      context.Context
	db       *testdb.DB
	pool     *pgxpool.Pool
	url      string
	dir      string
	program  string
	provider provider.Provider
	// second is another provider, for workspaces that continue when the first one fails.
	second provider.Provider
	bucket blob.Bucket
	// lookMost is the timeout of a look; zero means the default.
	lookMost time.Duration
	// heals is how long it may take until everything is as wanted, when nothing fails.
	heals time.Duration
	// blind means that a failed look counts as one that saw nothing. over wraps the
	// bucket. Both are for houses that are broken on purpose.
	blind bool
	over  func(blob.Bucket) blob.Bucket
	owner weir.ID
	log   *slog.Logger
	diary *testwait.Text
	epoch atomic.Int64
	// ahead is how far the time has been moved forward.
	ahead atomic.Int64
	tally tally

	mu      sync.Mutex
	rng     *rand.Rand
	tenants []*tenant
	found   []Finding
	// calm means that nothing fails. left is how many faults are left for the run, and
	// burst how often the same one is repeated.
	calm  bool
	left  int
	burst int
	bad   string
	// hidden objects have vanished from the bucket, for a time.
	hidden map[string]bool
	// outages are parts that do not work, by their name.
	outages map[string]*outage
	// busy is which reign changes which workspace.
	busy map[weir.ID]*change
}

// tally counts what happened in all runs.
type tally struct {
	runs, kills, pauses, quiet, faults, vanished, wants, writes, recovered, archives, intruders int
	moments                                                                                     map[string]int
	slowest                                                                                     time.Duration
}

// newHouse returns a house. The bucket is a folder unless one is given.
func newHouse(t *testing.T, bucket blob.Bucket) *house {
	t.Helper()
	db, program := testdb.New(t), program(t, "workspace")
	h := &house{T: t, ctx: t.Context(), db: db, pool: db.Pool, url: db.URL, program: program, dir: shortDir(t), bucket: bucket, diary: &testwait.Text{}, heals: healMost, over: func(b blob.Bucket) blob.Bucket { return b }, rng: rand.New(rand.NewPCG(1, 7)), calm: true, outages: map[string]*outage{}, busy: map[weir.ID]*change{}, hidden: map[string]bool{}, tally: tally{moments: map[string]int{}}}
	if bucket == nil {
		h.bucket = blobtest.Folder(t)
	}
	h.log = slog.New(slog.NewTextHandler(h.diary, &slog.HandlerOptions{Level: slog.LevelDebug}))
	h.provider = process.New(process.Config{Dir: h.dir, Program: program, Grace: 5 * time.Second})
	h.second = renamed{process.New(process.Config{Dir: shortDir(t), Program: program, Grace: 5 * time.Second}), "second"}
	h.exec(`update weir.workspace_policy set per_user = 1000, in_all = 1000`)
	h.scan(`insert into weir.users (id, name, role, created_at) values (gen_random_uuid(), 'ann', 'operator', now()) returning id`, nil, &h.owner)
	t.Cleanup(h.clear)
	return h
}

// shortDir returns a folder for the test with a short name, because the path of a socket
// must be short.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "weir-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// renamed is a provider under another name.
type renamed struct {
	provider.Provider
	name string
}

func (r renamed) Name() string { return r.name }

// clear ends what runs.
func (h *house) clear() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, p := range []provider.Provider{h.provider, h.second} {
		world, err := p.Look(ctx)
		if err != nil {
			h.Error(err)
		}
		for id := range world.Containers {
			if err := p.Stop(ctx, id); err != nil {
				h.Error(err)
			}
		}
	}
}

func (h *house) exec(sql string, args ...any) {
	h.Helper()
	if _, err := h.pool.Exec(h.ctx, sql, args...); err != nil {
		h.Fatalf("%s: %v", sql, err)
	}
}

func (h *house) scan(sql string, args []any, into ...any) {
	h.Helper()
	if err := h.pool.QueryRow(h.ctx, sql, args...).Scan(into...); err != nil {
		h.Fatalf("%s: %v", sql, err)
	}
}

// now returns the time in the house.
func (h *house) now() time.Time { return time.Now().Add(time.Duration(h.ahead.Load())) }

// find records a violation.
func (h *house) find(rule, workspace, format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.log.Error("FOUND " + rule + " " + workspace + ": " + fmt.Sprintf(format, args...))
	h.found = append(h.found, Finding{Rule: rule, Task: workspace, Text: fmt.Sprintf(format, args...)})
}

// hit records that a blow has fallen.
func (h *house) hit(m moment) {
	h.mu.Lock()
	defer h.mu.Unlock()
	how := "killed"
	if m.pause {
		how = "paused"
		h.tally.pauses++
	} else {
		h.tally.kills++
	}
	h.tally.moments[m.call+" "+string(m.when)]++
	h.log.Info("BLOW", "at", m.call, "when", m.when, "nth", m.nth, "how", how)
}

// mishap is what goes wrong with a call of the bucket or of the provider.
type mishap string

const (
	faultDown mishap = "down"
	faultCut  mishap = "cut"
	faultFlip mishap = "flipped"
	faultGone mishap = "gone"
)

// fault returns what should go wrong with a call to the bucket, if anything.
func (h *house) fault(call string) mishap {
	kinds := map[string][]mishap{
		"put archive": {faultDown, faultCut, faultFlip, faultGone}, "put meta": {faultDown, faultCut, faultGone}, "get": {faultDown, faultCut, faultFlip, faultGone},
		"list": {faultDown}, "delete": {faultDown},
	}[call]
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.due(call, 6) {
		return ""
	}
	kind := kinds[h.rng.IntN(len(kinds))]
	h.log.Info("FAULT", "call", call, "kind", kind)
	return kind
}

// fails reports whether a call to the provider should fail.
func (h *house) fails(call string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.due(call, 20) {
		return false
	}
	h.log.Info("FAULT", "call", call, "kind", faultDown)
	return true
}

// due reports whether something goes wrong now, once in the given number of calls, and
// then perhaps again.
func (h *house) due(call string, in int) bool {
	if h.calm {
		return false
	}
	if h.bad == call && h.burst > 0 {
		h.burst--
		h.tally.faults++
		return true
	}
	if h.left == 0 || h.rng.IntN(in) > 0 {
		return false
	}
	h.left--
	h.bad, h.burst = call, h.rng.IntN(4)
	h.tally.faults++
	return true
}

// place returns a random position in a stream.
func (h *house) place(most int64) int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return 1 + h.rng.Int64N(most)
}

func (h *house) hides(key string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.hidden[key]
}

// rests ends all faults, and brings back what had vanished.
func (h *house) rests() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calm = true
	clear(h.hidden)
}

// count increments a counter under the lock.
func (h *house) count(n *int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	*n++
}

// chance returns true once in the given number of times.
func (h *house) chance(in int) bool { return h.pick(in) == 0 }

func (h *house) pick(n int) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.rng.IntN(n)
}

// ask sends a request to a workspace, as the proxy would.
func (h *house) ask(id weir.ID, method, path, body string) (int, error) {
	client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return h.provider.Dial(ctx, id) }}}
	request, err := http.NewRequestWithContext(h.ctx, method, "http://workspace/files/"+path, bytes.NewBufferString(body))
	if err != nil {
		return 0, err
	}
	answer, err := client.Do(request)
	if err != nil {
		return 0, err
	}
	return answer.StatusCode, answer.Body.Close()
}
