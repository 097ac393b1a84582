//go:build unix

package chaos

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/blob"
	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/workspace/home"
	"github.com/weirhq/weir/internal/workspace/provider"
)

// tenant is a workspace, as its user knows it.
type tenant struct {
	id   weir.ID
	name string
	mu   sync.Mutex
	// files are the possible contents of each of its files, the last one being the last
	// write. An empty text means no file. More than one means that it is unknown whether
	// the last write was accepted.
	files map[string][]string
	// lived is set if there has been a home.
	lived   atomic.Bool
	deleted atomic.Bool
	// vanished is set if its archive was hidden for a time.
	vanished bool
}

// writes makes the user write, or remove, files, if the workspace answers.
func (h *house) writes(t *tenant) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for range 1 + h.pick(3) {
		name := fmt.Sprintf("%s/%d.txt", []string{"notes", "src/deep", "."}[h.pick(3)], h.pick(5))
		text, method := fmt.Sprintf("%s %d", t.name, h.pick(1<<30)), http.MethodPut
		if last := t.files[name]; len(last) > 0 && last[len(last)-1] != "" && h.chance(4) {
			text, method = "", http.MethodDelete
		}
		code, err := h.ask(t.id, method, name, text)
		switch {
		case errors.Is(err, provider.ErrNotRunning):
			return
		case err == nil && (code == http.StatusNoContent || code == http.StatusNotFound && method == http.MethodDelete):
			h.count(&h.tally.writes)
			t.files[name] = []string{text}
			t.lived.Store(true)
		default:
			t.files[name] = append(t.files[name], text)
			if len(t.files[name]) == 1 {
				t.files[name] = []string{"", text}
			}
		}
	}
}

// compare returns how a folder differs from what the user knows.
func (t *tenant) compare(folder string) (differs []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for name, may := range t.files {
		text, err := os.ReadFile(filepath.Join(folder, name)) // #nosec G304 -- a name of ours
		switch {
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			differs = append(differs, err.Error())
		case !slices.Contains(may, string(text)):
			differs = append(differs, fmt.Sprintf("%s holds %q, and not one of %q", name, text, may))
		}
	}
	slices.Sort(differs)
	return differs
}

// unpack extracts an archive of the bucket into a folder.
func (h *house) unpack(ctx context.Context, key string, meta home.Meta) (folder string, err error) {
	body, _, err := h.bucket.Get(ctx, key, 0, -1)
	if err != nil {
		return "", err
	}
	whole := blob.Verify(body, meta.SHA256, meta.Size)
	defer whole.Close()
	if folder, err = os.MkdirTemp(h.dir, "look-"); err != nil {
		return "", err
	}
	_, err = home.Unpack(ctx, whole, folder, home.Limits{})
	return folder, err
}

// archived returns what is wrong with the archive that the record of a workspace names.
func (h *house) archived(t *tenant) (wrong []string) {
	ctx := context.WithoutCancel(h.ctx)
	var key *string
	var meta *home.Meta
	if err := h.pool.QueryRow(ctx, `select archive_key, archive_meta from weir.workspaces where id = $1`, t.id).Scan(&key, &meta); err != nil {
		return []string{err.Error()}
	}
	if key == nil || meta == nil {
		return []string{"no archive is on record"}
	}
	folder, err := h.unpack(ctx, *key, *meta)
	defer os.RemoveAll(folder)
	if err != nil {
		return []string{*key + ": " + err.Error()}
	}
	return t.compare(folder)
}

// change is a call that changes a workspace.
type change struct {
	reign *reign
	name  string
}

// watch makes a call that changes a workspace, and checks whether it may.
func (h *house) watch(r *reign, p provider.Provider, id weir.ID, call string, do func() error) error {
	t := h.tenant(id)
	if t == nil {
		return do()
	}
	now := &change{r, fmt.Sprintf("%s of epoch %d", call, r.epoch)}
	h.mu.Lock()
	other := h.busy[id]
	if other == nil || !other.reign.fallen() {
		h.busy[id] = now
	}
	h.mu.Unlock()
	late := h.epoch.Load() != r.epoch
	if other != nil && !other.reign.fallen() && !r.fallen() {
		h.find(ruleAtOnce, t.name, "%s begins during %s", now.name, other.name)
	}
	var wrong []string
	whole := false
	if call == "provision" || call == "remove" {
		was, err := p.Look(context.WithoutCancel(h.ctx))
		if err != nil {
			h.find(ruleError, t.name, "look: %v", err)
		}
		whole = was.Volumes[id].Marker != ""
	}
	if call == "remove" && whole && !t.deleted.Load() {
		wrong = h.archived(t)
	}
	err := do()
	h.log.Debug("CHANGE", "call", now.name, "late", late, "workspace", t.name, "error", err)
	if call == "provision" && !whole && t.lived.Load() && err == nil && !late {
		h.find(ruleEmpty, t.name, "%s made an empty home where one was", now.name)
	}
	if (call == "provision" || call == "restore") && err == nil {
		t.lived.Store(true)
	}
	if len(wrong) > 0 && err == nil {
		h.find(ruleVolume, t.name, "%s took the volume: %v", now.name, wrong)
	}
	if call == "archive" && err == nil && h.intrudes() {
		h.intrude(t)
	}
	h.mu.Lock()
	if h.busy[id] == now {
		delete(h.busy, id)
	}
	h.mu.Unlock()
	return err
}

// intrude starts a workspace without the controller while it is being archived, and
// writes into its home.
func (h *house) intrude(t *tenant) {
	world, err := h.provider.Look(h.ctx)
	v, there := world.Volumes[t.id]
	if err == nil && there {
		err = h.provider.Start(h.ctx, provider.Spec{ID: t.id, Name: t.name, Mounts: v.Mounts + 10})
	}
	if err != nil || !there {
		return
	}
	for range 200 {
		if _, err = h.ask(t.id, http.MethodGet, "", ""); err == nil {
			break
		}
		loop.Wait(h.ctx, 10*time.Millisecond, nil)
	}
	h.writes(t)
	h.count(&h.tally.intruders)
	stop := h.chance(2)
	if stop {
		err = h.provider.Stop(h.ctx, t.id)
	}
	h.log.Info("INTRUDED", "workspace", t.name, "stopped", stop, "error", err)
}

// intrudes reports whether that happens now.
func (h *house) intrudes() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return !h.calm && h.rng.IntN(8) == 0
}

func (h *house) tenant(id weir.ID) *tenant {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, t := range h.tenants {
		if t.id == id {
			return t
		}
	}
	return nil
}
