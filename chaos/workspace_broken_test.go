//go:build unix

package chaos

import (
	"bytes"
	"context"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/blob"
	"github.com/weirhq/weir/internal/workspace/home"
	"github.com/weirhq/weir/internal/workspace/provider"
)

// brokenHouses are builds without one of the guards of workspaces.
var brokenHouses = []struct {
	name   string
	edits  []edit
	breaks func(*house)
}{
	{name: "volume deleted before its archive is stored", breaks: func(h *house) { h.provider = hasty{h.provider} }},
	{name: "volume deleted whoever has used it since", breaks: func(h *house) { h.provider = careless{h.provider} }},
	{name: "volume marked before it is filled", breaks: func(h *house) { h.provider = boastful{h.provider, h.dir} }},
	{name: "archive not read back", breaks: func(h *house) {
		h.over = func(b blob.Bucket) blob.Bucket { return &forgetful{Bucket: b, stored: map[string][]byte{}} }
	}},
	{name: "unknown taken for absent", breaks: func(h *house) { h.blind = true }},
	{name: "home forgotten", edits: []edit{
		{"workspace_see", `had_home = w.had_home or coalesce((o.conditions -> 'storage.volume_ready' ->> 'status')::boolean, false),`, `had_home = false,`},
		{"workspace_archived", `had_home = true,`, `had_home = false,`},
	}},
	{name: "archive kept when the volume was mounted meanwhile", edits: []edit{{"workspace_see", `coalesce(s.mounted > w.mounted and w.operation = 'ARCHIVING', false) as void`, `false as void`}}},
	{name: "collector that takes what is needed", edits: []edit{{"workspace_orphans", `w.phase <> 'DELETED' and (`, `false and (`}}},
	{name: "controller without the epoch fence", edits: []edit{{"fenced", `if now_epoch is distinct from fenced.epoch then`, `if false then`}}},
}

// TestWorkspacesBrokenBuild tests the judge of [TestWorkspaces]: it detects a broken
// build. All are in TestLongWorkspacesBrokenBuild (build tag chaos).
func TestWorkspacesBrokenBuild(t *testing.T) {
	t.Parallel()
	breakHouses(t, 1)
}

func breakHouses(t *testing.T, first int) {
	for _, b := range brokenHouses[:first] {
		t.Run(strings.ReplaceAll(b.name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, nil)
			h.db.SkipDoctor("it is broken on purpose")
			h.heals = 2 * time.Second // much of it will not heal
			for _, e := range b.edits {
				(&run{T: t, ctx: h.ctx, pool: h.pool}).apply(e)
			}
			if b.breaks != nil {
				b.breaks(h)
			}
			began := time.Now()
			for seed := uint64(1); seed <= 100; seed++ {
				if found := h.play(seed); len(found) > 0 {
					t.Logf("found by run %d, in %s: %s", seed, time.Since(began).Round(time.Millisecond), strings.Join(rules(found), "; "))
					return
				}
			}
			t.Fatal("nobody noticed")
		})
	}
}

// hasty removes a volume when it is packed.
type hasty struct{ provider.Provider }

func (p hasty) Archive(ctx context.Context, id weir.ID, meant provider.Volume, to io.Writer) (home.Meta, error) {
	meta, err := p.Provider.Archive(ctx, id, meant, to)
	if err == nil {
		err = p.Remove(ctx, id, meant)
	}
	return meta, err
}

// careless removes any volume that exists.
type careless struct{ provider.Provider }

func (p careless) Remove(ctx context.Context, id weir.ID, _ provider.Volume) error {
	world, err := p.Look(ctx)
	if err != nil {
		return err
	}
	return p.Provider.Remove(ctx, id, world.Volumes[id])
}

// boastful reports that a volume is complete, and completes it only then.
type boastful struct {
	provider.Provider
	dir string
}

func (p boastful) Restore(ctx context.Context, id weir.ID, archive io.Reader, as provider.Volume) error {
	var nothing bytes.Buffer
	if _, err := home.Empty(&nothing, 0, 0, time.Now()); err != nil {
		return err
	}
	if err := p.Provider.Restore(ctx, id, &nothing, as); err != nil {
		return err
	}
	_, err := home.Unpack(ctx, archive, filepath.Join(p.dir, "volumes", "ws-"+id.String()+"-home", "data"), home.Limits{})
	return err
}

// forgetful answers from memory instead of storing.
type forgetful struct {
	blob.Bucket
	mu     sync.Mutex
	stored map[string][]byte
}

func (b *forgetful) Put(ctx context.Context, key string, r io.Reader, size int64, contentType string) (blob.Object, error) {
	var copied bytes.Buffer
	o, err := b.Bucket.Put(ctx, key, io.TeeReader(r, &copied), size, contentType)
	b.mu.Lock()
	defer b.mu.Unlock()
	if err == nil {
		b.stored[key] = copied.Bytes()
	}
	return o, err
}

func (b *forgetful) Get(ctx context.Context, key string, offset, length int64) (io.ReadCloser, blob.Object, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if text, ok := b.stored[key]; ok {
		return io.NopCloser(bytes.NewReader(text)), blob.Object{Key: key, Size: int64(len(text))}, nil
	}
	return b.Bucket.Get(ctx, key, offset, length)
}
