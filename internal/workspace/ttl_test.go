package workspace_test

import (
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/workspace/ladder"
)

const ttl = 10 * time.Minute // standby_ttl of the policy

// Each condition of the rules, by itself: with all of them it is stopped or archived, and
// with one of them missing it is not.
func TestExpiry(t *testing.T) {
	t.Parallel()
	running := func(d *desk) weir.ID { return d.running("one") }
	standing := func(d *desk) weir.ID { return d.standing("one") }
	shared := newDesk(t)
	for name, c := range map[string]struct {
		make func(*desk) weir.ID
		// but is what is different.
		but  func(*desk, weir.ID)
		wait time.Duration
		want ladder.Phase
	}{
		"unused for longer than standby_ttl": {running, nil, ttl + time.Second, ladder.Standby},
		"unused for exactly standby_ttl":     {running, nil, ttl, ladder.Running},
		"used a moment ago":                  {running, func(d *desk, id weir.ID) { d.touch(id, ttl-time.Minute, "websocket") }, ttl + time.Second, ladder.Running},
		"used before its last use":           {running, func(d *desk, id weir.ID) { d.touch(id, -time.Hour, "http") }, ttl + time.Second, ladder.Standby},
		"a ttl of its own, longer":           {running, func(d *desk, id weir.ID) { d.patch(id, `{"standby_ttl": "1 hour"}`) }, ttl + time.Second, ladder.Running},
		"a ttl of its own, over":             {running, func(d *desk, id weir.ID) { d.patch(id, `{"standby_ttl": "1 hour"}`) }, time.Hour + time.Second, ladder.Standby},
		"a ttl of its own, shorter":          {running, func(d *desk, id weir.ID) { d.patch(id, `{"standby_ttl": "10 s"}`) }, 11 * time.Second, ladder.Standby},
		"an operation is under way":          {running, func(d *desk, id weir.ID) { d.begin(id, ladder.Stopping) }, ttl + time.Second, ladder.Running},
		"seen to be another phase":           {running, func(d *desk, id weir.ID) { d.see(id, ladder.Error) }, ttl + time.Second, ladder.Running},
		"wanted otherwise": {running, func(d *desk, id weir.ID) {
			d.want(id, ladder.Archived)
		}, ttl + time.Second, ladder.Archived},
		"deleted":                     {running, func(d *desk, id weir.ID) { d.want(id, ladder.Deleted) }, ttl + time.Second, ladder.Deleted},
		"busy":                        {running, func(d *desk, id weir.ID) { d.busy(id, time.Hour) }, ttl + time.Second, ladder.Running},
		"busy no more":                {running, func(d *desk, id weir.ID) { d.busy(id, time.Hour) }, time.Hour + time.Second, ladder.Standby},
		"busy, given back":            {running, func(d *desk, id weir.ID) { d.busy(id, time.Hour); d.busy(id, 0) }, ttl + time.Second, ladder.Standby},
		"ran as long as it may, used": {running, func(d *desk, id weir.ID) { d.life("2 h"); d.touch(id, 2*time.Hour, "http") }, 2*time.Hour + time.Second, ladder.Standby},
		"ran as long as it may, busy": {running, func(d *desk, id weir.ID) { d.life("2 h"); d.busy(id, 5*time.Hour) }, 2*time.Hour + time.Second, ladder.Standby},
		"may run on, used":            {running, func(d *desk, id weir.ID) { d.life("3 h"); d.touch(id, 2*time.Hour, "http") }, 2*time.Hour + time.Second, ladder.Running},
		"stands by for archive_ttl":   {standing, nil, 30*time.Minute + time.Second, ladder.Archived},
		"stands by, not long enough":  {standing, nil, 30 * time.Minute, ladder.Standby},
		"stands by, used":             {standing, func(d *desk, id weir.ID) { d.touch(id, 30*time.Minute, "http") }, 30*time.Minute + time.Second, ladder.Archived},
		"stands by, operation":        {standing, func(d *desk, id weir.ID) { d.begin(id, ladder.Archiving) }, 30*time.Minute + time.Second, ladder.Standby},
		"stands by, start is wanted":  {standing, func(d *desk, id weir.ID) { d.want(id, ladder.Running) }, 30*time.Minute + time.Second, ladder.Running},
		"stands by, a ttl of its own": {standing, func(d *desk, id weir.ID) { d.patch(id, `{"archive_ttl": "1 day"}`) }, 30*time.Minute + time.Second, ladder.Standby},
		"stands by, of its own, over": {standing, func(d *desk, id weir.ID) { d.patch(id, `{"archive_ttl": "1 day"}`) }, 24*time.Hour + time.Second, ladder.Archived},
		"stands by, in error":         {standing, func(d *desk, id weir.ID) { d.see(id, ladder.Error) }, 30*time.Minute + time.Second, ladder.Standby},
		"stands by, back to the policy": {standing, func(d *desk, id weir.ID) {
			d.patch(id, `{"archive_ttl": "1 day"}`)
			d.patch(id, `{"archive_ttl": null}`)
		}, 30*time.Minute + time.Second, ladder.Archived},
	} {
		t.Run(name, func(t *testing.T) {
			d := &desk{T: t, db: shared.db, store: shared.store, owner: shared.owner, now: shared.now}
			defer d.exec(`update weir.workspaces set desired = 'DELETED', deleted_at = now()`) // the next case is by itself
			defer d.exec(`update weir.workspace_policy set max_life = null`)
			id := c.make(d)
			if c.but != nil {
				c.but(d, id)
			}
			d.wait(c.wait)
			before := d.get(id).Desired
			n := d.expire()
			w := d.get(id)
			if w.Desired != c.want || (n > 0) != (w.Desired != before) {
				t.Errorf("%s is wanted, and %d were told: %+v", w.Desired, n, w)
			}
			if w.Desired != before && (w.DesiredBy != "ttl" || w.Generation < 2) {
				t.Errorf("it was not noted who wants that: %+v", w)
			}
			if d.expire() != 0 {
				t.Error("it is told again")
			}
		})
	}
}

func (d *desk) touch(id weir.ID, after time.Duration, source string) {
	d.Helper()
	d.ok(d.store.Touch(d.Context(), []weir.ID{id}, []time.Time{d.now.Add(after)}, []string{source}))
}

func (d *desk) patch(id weir.ID, change string) {
	d.Helper()
	d.exec(`select weir.workspace_patch($1, $2, 'ann', at => $3)`, id, change, d.now)
}

func (d *desk) busy(id weir.ID, lasts time.Duration) {
	d.Helper()
	d.exec(`select weir.workspace_busy($1, $2, 'ann', at => $3)`, id, lasts, d.now)
}

func (d *desk) life(most string) {
	d.Helper()
	d.exec(`select weir.set_workspace_policy(jsonb_build_object('max_life', $1::text), 'ann', at => $2)`, most, d.now)
}

// What the proxies see in use is not stopped; if nobody can tell, nothing is stopped for
// want of use, but what stands by is archived all the same.
func TestWhatIsInUseIsNotStopped(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	one, two := d.running("one"), d.running("two")
	resting := d.standing("three")
	d.wait(time.Hour)
	var n int
	d.scan(&n, `select weir.workspace_expire(null, at => $1)`, d.now)
	if n != 1 || d.get(one).Desired != ladder.Running || d.get(two).Desired != ladder.Running || d.get(resting).Desired != ladder.Archived {
		t.Errorf("%d were told although nobody could tell what is in use", n)
	}
	if n := d.expire(one); n != 1 || d.get(one).Desired != ladder.Running || d.get(two).Desired != ladder.Standby {
		t.Errorf("%d were told", n)
	}
	for _, e := range d.entries(two) {
		if e.Type == "wanted" && e.By == "ttl" {
			if !strings.Contains(e.Message, "nobody used it for 01:00:00, last: create") {
				t.Errorf("the reason is %q", e.Message)
			}
			return
		}
	}
	t.Error("the timeline does not say why")
}

// A home that takes long to come back is not stopped the moment it runs.
func TestUseCountsFromWhenItCanBeUsed(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	id := d.create("one", ladder.Running)
	d.through(id, ladder.Provisioning, ladder.Standby, 0)
	op := d.begin(id, ladder.Starting)
	d.wait(time.Hour)
	d.see(id, ladder.Running, 1)
	d.end(id, op, "", "")
	d.wait(time.Minute)
	if d.expire() != 0 || d.get(id).LastUse != "start" {
		t.Errorf("%+v", d.get(id))
	}
	// It dies and starts again by itself: nobody uses it for that.
	d.wait(ttl - time.Minute)
	d.see(id, ladder.Standby, 1)
	d.through(id, ladder.Starting, ladder.Running, 2)
	d.wait(time.Minute + time.Second)
	if d.expire() != 1 {
		t.Error("it runs on")
	}
}

// A workspace can keep itself busy, but not for ever.
func TestBusyIsCapped(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	id := d.running("one")
	used := d.get(id).LastAccess
	until := func(lasts string) (at time.Time) {
		t.Helper()
		d.scan(&at, `select weir.workspace_busy($1, $2::text::interval, at => $3)`, id, lasts, d.now)
		return at
	}
	if got := until("1 h"); !got.Equal(d.now.Add(time.Hour)) {
		t.Errorf("until %s", got)
	}
	if got := until("7 days"); !got.Equal(used.Add(12 * time.Hour)) {
		t.Errorf("until %s", got)
	}
	d.wait(13 * time.Hour)
	d.refuses(problem.Conflict, `select weir.workspace_busy($1, '1 h', at => $2)`, id, d.now)
	d.touch(id, 0, "terminal")
	if got := until("1 h"); !got.Equal(d.now.Add(time.Hour)) {
		t.Errorf("until %s", got)
	}
	d.refuses(problem.Invalid, `select weir.workspace_busy($1, '-1 h', at => $2)`, id, d.now)
	d.refuses(problem.NotFound, `select weir.workspace_busy(gen_random_uuid(), '1 h')`)
}

// A time never goes back, whatever order buffers are emptied in.
func TestUseNeverGoesBack(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	one, two := d.running("one"), d.running("two")
	ids, at := []weir.ID{one, two, one}, []time.Time{d.now.Add(3 * time.Minute), d.now.Add(time.Minute), d.now.Add(2 * time.Minute)}
	d.ok(d.store.Touch(t.Context(), ids, at, []string{"terminal", "http", "websocket"}))
	d.ok(d.store.Touch(t.Context(), ids[2:], at[2:], []string{"http"}))
	d.ok(d.store.Touch(t.Context(), nil, nil, nil))
	if w := d.get(one); !w.LastAccess.Equal(at[0]) || w.LastUse != "terminal" {
		t.Errorf("%+v", w)
	}
	if w := d.get(two); !w.LastAccess.Equal(at[1]) || w.LastUse != "http" {
		t.Errorf("%+v", w)
	}
}
