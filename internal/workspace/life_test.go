package workspace_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/blob"
	"github.com/weirhq/weir/internal/blob/blobtest"
	"github.com/weirhq/weir/internal/testdb"
	"github.com/weirhq/weir/internal/testwait"
	"github.com/weirhq/weir/internal/workspace"
	"github.com/weirhq/weir/internal/workspace/ladder"
	"github.com/weirhq/weir/internal/workspace/provider"
	"github.com/weirhq/weir/internal/workspace/provider/process"
)

// term lasts until it is over: then it changes nothing more, and what runs beside it ends.
type term struct {
	context.Context
	end  context.CancelFunc
	over atomic.Bool
}

func (m *term) Go(f func(context.Context)) { go f(m.Context) }

func (m *term) QueryRow(ctx context.Context, pool *pgxpool.Pool, sql string, args []any, into ...any) error {
	if m.over.Load() {
		return errors.New("the term is over")
	}
	return pool.QueryRow(ctx, sql, args...).Scan(into...)
}

// rig is a controller with processes and a folder for a bucket.
type rig struct {
	*testing.T
	db         *testdb.DB
	store      *workspace.Store
	bucket     blob.Bucket
	provider   *process.Provider
	config     workspace.Config
	term       *term
	controller *workspace.Controller
	owner      weir.ID
	// dir is where the provider has its volumes.
	dir string
	// ahead is how much later it is for the controller.
	ahead atomic.Int64
}

func newRig(t *testing.T, changes ...func(*rig, *workspace.Config)) *rig {
	t.Helper()
	db := testdb.New(t)
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{T: t, db: db, store: workspace.New(db.Pool), bucket: blobtest.Folder(t), dir: t.TempDir()}
	r.provider = process.New(process.Config{Dir: r.dir, Program: program, Args: []string{"inside", "serve"}, Grace: 5 * time.Second})
	r.config = workspace.Config{
		Pool: db.Pool, Providers: []provider.Provider{r.provider}, Bucket: r.bucket, Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
		Now: func() time.Time { return time.Now().Add(time.Duration(r.ahead.Load())) },
	}
	for _, change := range changes {
		change(r, &r.config)
	}
	r.lead()
	r.ok(db.Pool.QueryRow(t.Context(), `insert into weir.users (id, name, role, created_at) values (gen_random_uuid(), 'ann', 'operator', now()) returning id`).Scan(&r.owner))
	t.Cleanup(func() {
		r.term.end()
		r.controller.Wait()
		w, err := r.provider.Look(context.Background())
		if err != nil {
			t.Error(err)
		}
		for id := range w.Containers {
			if err := r.provider.Stop(context.Background(), id); err != nil {
				t.Error(err)
			}
		}
	})
	return r
}

// lead begins a term. The one before is over.
func (r *rig) lead() {
	if r.term != nil {
		r.term.over.Store(true)
		r.term.end()
		r.controller.Wait()
	}
	ctx, end := context.WithCancel(context.Background())
	r.term = &term{Context: ctx, end: end}
	r.controller = workspace.NewController(r.config, r.term)
}

// wait lets time pass for the controller.
func (r *rig) wait(d time.Duration) { r.ahead.Add(int64(d)) }

func (r *rig) create(name string, desired ladder.Phase) weir.ID {
	r.Helper()
	id, _, err := r.store.Create(r.Context(), "ann", workspace.Draft{Owner: r.owner, Name: name, Provider: "process", Desired: desired})
	r.ok(err)
	return id
}

func (r *rig) get(id weir.ID) workspace.Workspace {
	r.Helper()
	w, err := r.store.Workspace(r.Context(), id)
	r.ok(err)
	return w
}

// tick lets the controller look once, and waits for what it does.
func (r *rig) tick() {
	r.Helper()
	_, err := r.controller.Tick(r.Context())
	r.ok(err)
	r.controller.Wait()
}

func (r *rig) look() provider.World {
	r.Helper()
	w, err := r.provider.Look(r.Context())
	r.ok(err)
	return w
}

func (r *rig) ok(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

// reach lets the controller work until a workspace is where it shall be.
func (r *rig) reach(id weir.ID, want ladder.Phase) (w workspace.Workspace) {
	r.Helper()
	testwait.Until(r, "it is "+string(want), func() bool {
		r.tick()
		w = r.get(id)
		return w.Phase == want && w.Operation == ladder.None
	})
	return w
}

func (r *rig) want(id weir.ID, phase ladder.Phase) {
	r.Helper()
	_, err := r.store.Want(r.Context(), id, phase, "ann", "")
	r.ok(err)
}

// ask speaks to the workspace as the proxy would.
func (r *rig) ask(id weir.ID, method, path, body string) (int, string) {
	r.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return r.provider.Dial(ctx, id) }}}
	request, err := http.NewRequestWithContext(r.Context(), method, "http://workspace"+path, bytes.NewBufferString(body))
	r.ok(err)
	answer, err := client.Do(request)
	r.ok(err)
	text, err := io.ReadAll(answer.Body)
	r.ok(err)
	r.ok(answer.Body.Close())
	return answer.StatusCode, string(text)
}

// The whole life: made, run, written to, stopped, archived, gone from the disk, and back.
func TestLife(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.create("first", ladder.Running)
	r.reach(id, ladder.Running)
	if code, text := r.ask(id, http.MethodPut, "/files/notes/today.txt", "kept"); code != http.StatusNoContent {
		t.Fatalf("%d %s", code, text)
	}
	r.want(id, ladder.Archived)
	w := r.reach(id, ladder.Archived)
	if w.Archive == nil || w.Archive.Entries != 3 || w.ArchiveMounts != w.Mounts {
		t.Errorf("the archive is %+v of %+v", w.Archive, w)
	}
	seen := r.look()
	if len(seen.Containers)+len(seen.Volumes) > 0 {
		t.Errorf("something is left: %+v", seen)
	}
	r.want(id, ladder.Running)
	r.reach(id, ladder.Running)
	if code, text := r.ask(id, http.MethodGet, "/files/notes/today.txt", ""); code != http.StatusOK || text != "kept" {
		t.Errorf("%d %q", code, text)
	}
	r.want(id, ladder.Deleted)
	r.reach(id, ladder.Deleted)
	seen = r.look()
	if len(seen.Containers)+len(seen.Volumes) > 0 {
		t.Errorf("something is left: %+v", seen)
	}
}

// A home that vanished is not replaced by an empty one.
func TestAHomeThatVanishedIsForAPerson(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.create("first", ladder.Standby)
	r.reach(id, ladder.Standby)
	r.ok(r.provider.Remove(t.Context(), id, r.look().Volumes[id]))
	w := r.reach(id, ladder.Error)
	if w.Error != ladder.DataLost {
		t.Errorf("%+v", w)
	}
	_, err := r.store.Recover(t.Context(), id, "ann", "nothing was in it", true)
	r.ok(err)
	r.reach(id, ladder.Standby)
}
