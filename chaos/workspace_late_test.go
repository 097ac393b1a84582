//go:build unix

package chaos

import (
	"testing"
	"time"
)

// TestWorkspacesArchiveGone lets a controller die when it has recorded an archive, and
// lets that archive vanish before the next one continues. The volume is all that is left:
// it stays.
func TestWorkspacesArchiveGone(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	r := h.begin(moment{call: "sql archived", nth: 1, when: after})
	one := h.let("one", "process", "RUNNING")
	h.reach(r, "it runs", one)
	h.writes(one)
	h.want(one, "ARCHIVED")
	for !r.fallen() {
		_ = r.tick(r.work, true)
	}
	r.over()
	h.vanish(one)
	r = h.begin(moment{})
	for range 8 {
		_ = r.tick(r.work, true)
		h.passTime(one)
	}
	world, err := h.provider.Look(t.Context())
	if err != nil || world.Volumes[one.id].Marker == "" {
		t.Fatalf("the volume is gone, and the archive was gone before: %v %v", world, err)
	}
	r.over()
	h.rests()
	h.heal(nil)
	h.judgeHomes()
	h.accuses()
}

// TestWorkspacesLateStart lets a controller continue late with each call that fills or
// mounts a volume, when everything has been done, undone and archived since. The result
// of the late call is not the home.
func TestWorkspacesLateStart(t *testing.T) {
	t.Parallel()
	for _, call := range []string{"provision", "restore", "start", "archive", "remove"} {
		t.Run(call, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, nil)
			late := h.begin(moment{call: call, nth: 1, when: before, pause: true, still: true})
			one := h.let("one", "process", "RUNNING")
			h.cycle(late, one)
			r := h.begin(moment{})
			h.cycle(r, one)
			h.cycle(r, one)
			r.over()
			late.over() // it continues, and its act is done
			h.heal(nil)
			h.judgeHomes()
			r = h.begin(moment{})
			h.want(one, "RUNNING")
			h.reach(r, "it runs again", one)
			h.judgeHomes()
			h.want(one, "ARCHIVED")
			h.reach(r, "it is archived again", one)
			r.over()
			h.judgeHomes()
			h.judgeTimeline()
			h.accuses()
		})
	}
}

// cycle brings a workspace up and down, or as far as the controller gets.
func (h *house) cycle(r *reign, t *tenant) {
	h.Helper()
	for _, phase := range []string{"RUNNING", "ARCHIVED", "RUNNING", "ARCHIVED"} {
		h.want(t, phase)
		for end := time.Now().Add(time.Minute); !r.fallen(); {
			_ = r.tick(r.work, true)
			h.writes(t)
			var there bool
			if h.scan(`select phase = desired and operation = 'NONE' from weir.workspaces where id = $1`, []any{t.id}, &there); there {
				break
			}
			if time.Now().After(end) {
				h.Fatalf("it is not %s", phase)
			}
		}
	}
}
