//go:build unix

package chaos

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/testwait"
	"github.com/weirhq/weir/internal/workspace/provider"
)

// bucketPart is the name of the bucket among the parts.
const bucketPart = "bucket"

// outage is a part that does not work for a time.
type outage struct {
	// hangs means that calls wait until the outage is over or their caller gives up.
	// Otherwise they fail.
	hangs bool
	// looks means that looks still succeed.
	looks bool
	over  chan struct{}
}

func (h *house) breaks(part string, o outage) {
	h.mu.Lock()
	defer h.mu.Unlock()
	o.over = make(chan struct{})
	h.outages[part] = &o
}

func (h *house) mends(part string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	close(h.outages[part].over)
	delete(h.outages, part)
}

// out returns the error of a call to a part during an outage.
func (h *house) out(ctx context.Context, part string, look bool) error {
	h.mu.Lock()
	o := h.outages[part]
	h.mu.Unlock()
	switch {
	case o == nil, look && o.looks:
		return nil
	case !o.hangs:
		return errDown
	}
	select {
	case <-o.over:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// TestWorkspacesWithout takes away the bucket, or a provider, in every way: nothing is
// deleted, nothing is made, the last known state stays and is marked as unknown,
// workspaces elsewhere continue, and everything heals by itself.
func TestWorkspacesWithout(t *testing.T) {
	t.Parallel()
	for _, part := range []string{"process", bucketPart} {
		for how, o := range map[string]outage{"down": {}, "hanging": {hangs: true}, "seen but hanging": {hangs: true, looks: true}, "seen but down": {looks: true}} {
			t.Run(strings.ReplaceAll(part+" "+how, " ", "_"), func(t *testing.T) {
				t.Parallel()
				h := newHouse(t, nil)
				h.lookMost = 500 * time.Millisecond
				h.without(part, o)
				h.accuses()
			})
		}
	}
}

// without breaks a part, and repairs it.
func (h *house) without(part string, o outage) {
	h.Helper()
	r := h.begin(moment{})
	up, low, elsewhere := h.let("up", "process", "RUNNING"), h.let("low", "process", "RUNNING"), h.let("elsewhere", "second", "RUNNING")
	h.reach(r, "all run", up, low, elsewhere)
	h.writes(up)
	h.writes(low)
	h.want(low, "ARCHIVED")
	h.reach(r, "one is archived", low)
	was, homes := h.phases(), h.homes()

	h.breaks(part, o)
	h.want(up, "ARCHIVED")
	h.want(low, "RUNNING")
	h.let("late", "process", "RUNNING")
	for range 2 { // it makes no difference which controller leads
		for range 2 {
			_ = r.tick(r.work, false) // its error is in the record, too
			if !o.hangs {
				_ = r.tick(r.collect, false)
			}
		}
		if !o.looks {
			h.unchanged(part, was, homes)
		}
		h.nothingLost(homes, low)
		r.dies()
		r = h.begin(moment{})
	}
	switch {
	case part != bucketPart:
		h.want(elsewhere, "ARCHIVED")
		h.reach(r, "the one elsewhere is archived", elsewhere)
		fallthrough
	case o.looks:
		h.want(elsewhere, "STANDBY")
		h.reach(r, "the one elsewhere stands by", elsewhere)
		h.want(elsewhere, "RUNNING")
		h.reach(r, "the one elsewhere runs", elsewhere)
	}
	h.nothingLost(homes, low)

	h.mends(part)
	h.reach(r, "all is as it is wanted", h.tenants...)
	var unknown *string
	if h.scan(`select unknown from weir.workspace_policy`, nil, &unknown); unknown != nil {
		h.Errorf("it is mended, and %s", *unknown)
	}
	h.judgeHomes()
	h.judgeTimeline()
	r.over()
}

// phases returns what is recorded of all workspaces.
func (h *house) phases() (text string) {
	h.Helper()
	h.scan(`select string_agg(concat_ws(' ', name, phase, operation, error_reason, conditions), '; ' order by name) from weir.workspaces where name <> 'late'`, nil, &text)
	return text
}

// homes returns the volumes of the first provider.
func (h *house) homes() map[weir.ID]provider.Volume {
	h.Helper()
	w, err := h.provider.Look(h.ctx)
	if err != nil {
		h.Fatal(err)
	}
	return w.Volumes
}

// unchanged checks that the last known state stays, with the reason.
func (h *house) unchanged(part, phases string, homes map[weir.ID]provider.Volume) {
	h.Helper()
	if is := h.phases(); is != phases {
		h.Errorf("it was\n%s\nit is\n%s", phases, is)
	}
	if is := h.homes(); !maps.Equal(is, homes) {
		h.Errorf("volumes were %v and are %v", homes, is)
	}
	var unknown []string
	if h.scan(`select unknown_of from weir.workspace_policy`, nil, &unknown); !slices.Contains(unknown, part) {
		h.Errorf("only %v is said to be unknown", unknown)
	}
	var begun bool
	if h.scan(`select bool_or(phase <> 'PENDING' or operation <> 'NONE') from weir.workspaces where name = 'late'`, nil, &begun); begun {
		h.Error("a new workspace is made without a look")
	}
}

// nothingLost checks that every home is where it was, and none is empty.
func (h *house) nothingLost(homes map[weir.ID]provider.Volume, low *tenant) {
	h.Helper()
	is := h.homes()
	for id, v := range homes {
		if is[id] != v {
			h.Errorf("a volume was %v and is %v", v, is[id])
		}
	}
	if is[low.id].Marker == provider.Fresh {
		h.Error("an empty home was made where one was")
	}
	if wrong := h.archived(low); len(wrong) > 0 {
		h.Errorf("the archive: %v", wrong)
	}
}

// reach lets a controller work until workspaces are in their wanted state.
func (h *house) reach(r *reign, what string, all ...*tenant) {
	h.Helper()
	testwait.Until(h, what, func() bool {
		_ = r.tick(r.work, false)
		for _, t := range all {
			h.passTime(t)
			var there bool
			if h.scan(`select phase = desired and operation = 'NONE' from weir.workspaces where id = $1`, []any{t.id}, &there); !there {
				return false
			}
		}
		return true
	})
}
