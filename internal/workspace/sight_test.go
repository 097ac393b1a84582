package workspace_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/workspace/ladder"
)

func (d *desk) conditions(id weir.ID) (c map[string]struct {
	Status bool
	Reason string
	Since  time.Time `json:"last_transition_time"`
},
) {
	d.Helper()
	d.ok(json.Unmarshal(d.get(id).Conditions, &c))
	return c
}

// A condition says since when it is so; one that stays so keeps its time.
func TestConditionsSaySinceWhen(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	start := d.now
	id := d.standing("one")
	d.wait(time.Minute)
	d.see(id, ladder.Running, 1)
	c := d.conditions(id)
	if !c["storage.volume_ready"].Since.Equal(start) || !c["infra.container_ready"].Since.Equal(d.now) || !c["infra.container_ready"].Status || !c["policy.healthy"].Since.Equal(start) {
		t.Errorf("%+v", c)
	}
	if w := d.get(id); !w.PhaseAt.Equal(d.now) || !w.ObservedAt.Equal(d.now) || w.Seen().Volume.Status != true {
		t.Errorf("%+v", w)
	}
}

// What is the same is not written.
func TestAnUnchangedSightIsNotWritten(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	id := d.standing("one")
	var before, after string
	d.scan(&before, `select xmin::text from weir.workspaces where id = $1`, id)
	d.wait(time.Hour)
	d.see(id, ladder.Standby, 0)
	if d.scan(&after, `select xmin::text from weir.workspaces where id = $1`, id); after != before {
		t.Error("it was written")
	}
	d.want(id, ladder.Running)
	d.see(id, ladder.Standby, 0)
	if w := d.get(id); w.Observed != w.Generation || w.Observed != 2 {
		t.Errorf("what was wanted is not noted as seen: %+v", w)
	}
}

// A home that was seen once is remembered, also when it is seen in an error.
func TestAHomeIsRemembered(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	id := d.create("one", ladder.Standby)
	if d.get(id).HadHome {
		t.Error("there was none yet")
	}
	d.exec(`select weir.workspace_see(jsonb_build_array(jsonb_build_object('id', $1::uuid, 'phase', 'ERROR', 'generation', 1, 'conditions', '{"storage.volume_ready": {"status": true}}'::jsonb)))`, id)
	if !d.get(id).HadHome {
		t.Error("it is forgotten")
	}
	// An empty archive is a home, too.
	two := d.create("two", ladder.Archived)
	d.through(two, ladder.CreateEmptyArchive, ladder.Archived)
	if !d.get(two).HadHome {
		t.Error("the archive is forgotten")
	}
}

// Progress moves the time from which patience is counted, and so does the end of an
// outage, for what it was about.
func TestProgress(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	id := d.standing("one")
	d.want(id, ladder.Archived)
	op := d.begin(id, ladder.Archiving)
	begun := d.now
	at := func() time.Time { return *d.get(id).OpProgress }
	d.wait(time.Minute)
	d.see(id, ladder.Standby, 0)
	if !at().Equal(begun) {
		t.Error("a look that shows nothing new is progress")
	}
	d.exec(`select weir.workspace_progress($1, $2, 'half of it', at => $3)`, id, op, d.now)
	if w := d.get(id); !w.OpProgress.Equal(d.now) || w.OpSays != "half of it" || !w.OpStarted.Equal(begun) {
		t.Errorf("%+v", w)
	}
	d.wait(time.Minute)
	d.exec(`select weir.workspace_progress($1, gen_random_uuid(), 'another', at => $2)`, id, d.now)
	if at().Equal(d.now) {
		t.Error("another operation gets on with it")
	}
	for _, c := range []struct {
		unknown []string
		moves   bool
	}{{[]string{"docker"}, false}, {[]string{}, false}, {[]string{"docker", "process"}, false}, {[]string{"docker"}, true}, {[]string{"bucket"}, false}, {[]string{}, true}} {
		d.wait(time.Minute)
		d.exec(`select weir.workspace_unknown($1, 'it does not answer', at => $2)`, c.unknown, d.now)
		if at().Equal(d.now) != c.moves {
			t.Errorf("%v: time runs from %s", c.unknown, at())
		}
	}
	d.wait(time.Hour)
	d.exec(`select weir.workspace_resume(at => $1)`, d.now)
	if !at().Equal(d.now) {
		t.Error("a new leader has no patience")
	}
}

// An outage is told once, whatever words it comes with, and its end.
func TestUnknownIsToldOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	since := d.now
	for _, why := range []string{"connection 1 refused", "connection 2 refused"} {
		d.exec(`select weir.workspace_unknown('{docker}', $1, at => $2)`, why, d.now)
		d.wait(time.Second)
	}
	p, err := d.store.Policy(t.Context())
	d.ok(err)
	if !p.UnknownAt.Equal(since) || p.Unknown != "connection 1 refused" || len(p.UnknownOf) != 1 {
		t.Errorf("%+v", p)
	}
	d.exec(`select weir.workspace_unknown('{}', at => $1)`, d.now)
	if p, err = d.store.Policy(t.Context()); err != nil || p.UnknownAt != nil || p.Unknown != "" {
		t.Errorf("%+v, %v", p, err)
	}
	if n := d.count(`select count(*) from weir.events where kind = 'workspaces' and subject = 'all'`); n != 2 {
		t.Errorf("%d events", n)
	}
}
