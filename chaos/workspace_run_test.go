//go:build unix

package chaos

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/loop"
)

// The rules of workspaces.
const (
	ruleHome     = "W1 no home is lost"
	ruleVolume   = "W2 a volume goes after its archive"
	ruleEmpty    = "W3 no empty home where one was"
	ruleAtOnce   = "W4 no operation twice at once"
	ruleReign    = "W5 one controller writes"
	ruleConverge = "W6 all converge"
	ruleArchive  = "W7 archives are what they say"
	ruleLeft     = "W8 what is deleted leaves nothing"
)

const (
	tenantCount = 3
	stepCount   = 16
	// healMost is how long a busy machine may take to bring everything to its wanted
	// state after the faults end.
	healMost = 30 * time.Second
)

// play is one run: users want things, controllers are struck, parts fail, as the seed
// says. Then all faults end, and the run is judged.
func (h *house) play(seed uint64) []Finding {
	h.Helper()
	began := time.Now()
	h.open(seed)
	var paused, late []*reign
	r := h.begin(h.moment())
	age := 0
	for range stepCount {
		for _, t := range h.tenants {
			h.live(t)
		}
		h.reignOn(r)
		age++
		switch {
		case r.fallen() && r.moment.pause:
			paused = append(paused, r)
			r, age = h.begin(h.moment()), 0
		case r.fallen():
			r.over()
			r, age = h.begin(h.moment()), 0
		case age > 4 && h.chance(3):
			h.tally.quiet++
			r.over()
			r, age = h.begin(h.moment()), 0
		}
		if len(paused) > 0 && age > 0 && h.chance(5) {
			paused[0].goOn()
			late = append(late, paused[0])
			paused = paused[1:]
		}
	}
	h.rests()
	if r.fallen() && r.moment.pause {
		paused = append(paused, r)
	} else {
		r.over()
	}
	h.heal(paused)
	for _, r := range late {
		r.over()
	}
	h.conclude()
	h.tally.runs++
	h.tally.slowest = max(h.tally.slowest, time.Since(began))
	return h.found
}

// reignOn lets a controller work for a moment. Whatever goes wrong, the next one looks
// again.
func (h *house) reignOn(r *reign) {
	_ = r.tick(r.work, !h.chance(4))
	if !r.fallen() && h.chance(5) {
		_ = r.tick(r.ttl, true)
	}
	if !r.fallen() && h.chance(5) {
		_ = r.tick(r.collect, true)
	}
	h.passTime(h.tenants...)
}

// open begins a run with new workspaces.
func (h *house) open(seed uint64) {
	h.Helper()
	_ = h.diary.Take()
	h.rng = rand.New(rand.NewPCG(seed, 7)) // #nosec G404 -- to be repeated
	h.tenants, h.found, h.hidden, h.busy, h.calm, h.left, h.burst, h.bad = nil, nil, map[string]bool{}, map[weir.ID]*change{}, false, h.pick(9), 0, ""
	for i := range tenantCount {
		h.let(fmt.Sprintf("w%d-%d", seed, i), "process", []string{"RUNNING", "RUNNING", "STANDBY", "ARCHIVED"}[h.pick(4)])
	}
}

// let makes a workspace.
func (h *house) let(name, on, desired string) *tenant {
	h.Helper()
	t := &tenant{name: name, files: map[string][]string{}}
	h.scan(`select weir.workspace_create(owner => $1, name => $2, provider => $3, desired => $4, by => 'ann', at => $5)`, []any{h.owner, name, on, desired, h.now()}, &t.id)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.tenants = append(h.tenants, t)
	return t
}

// moment returns where the next controller is struck.
func (h *house) moment() moment {
	m := momentCalls[h.pick(len(momentCalls))]
	m.nth = 1 + h.pick(3)/2
	if h.chance(3) {
		h.ahead.Add(int64(3 * time.Hour)) // between two reigns
	}
	m.pause, m.still = h.chance(4), h.chance(2)
	return m
}

// live makes the user of a workspace do something.
func (h *house) live(t *tenant) {
	if t.deleted.Load() {
		return
	}
	h.writes(t)
	switch h.pick(8) {
	case 0, 1, 2, 3, 4:
		h.change(t)
	case 5:
		if h.chance(8) {
			h.want(t, "DELETED")
		}
	case 6:
		h.vanish(t)
	}
	if h.chance(4) {
		h.recover(t)
	}
}

// change changes what is wanted of a workspace: mostly all the way up or all the way
// down.
func (h *house) change(t *tenant) {
	h.Helper()
	var desired string
	h.scan(`select desired from weir.workspaces where id = $1`, []any{t.id}, &desired)
	switch {
	case desired != "RUNNING" && !h.chance(4):
		h.want(t, "RUNNING")
	case desired != "ARCHIVED" && !h.chance(4):
		h.want(t, "ARCHIVED")
	default:
		h.want(t, "STANDBY")
	}
}

// want sets what is wanted of a workspace. It may be refused.
func (h *house) want(t *tenant, phase string) {
	h.Helper()
	_, err := h.pool.Exec(h.ctx, `select weir.workspace_want($1, $2, 'ann', at => $3)`, t.id, phase, h.now())
	var refused *pgconn.PgError
	switch {
	case err == nil:
		h.tally.wants++
		if phase == "DELETED" {
			t.deleted.Store(true)
		}
	case errors.As(err, &refused) && refused.Code == "WR409":
	default:
		h.Fatalf("want %s: %v", phase, err)
	}
}

// vanish hides the archive of a workspace, for a time.
func (h *house) vanish(t *tenant) {
	var key *string
	h.scan(`select max(archive_key) from weir.workspaces where id = $1 and (phase = 'ARCHIVED' or operation = 'ARCHIVING')`, []any{t.id}, &key)
	h.mu.Lock()
	defer h.mu.Unlock()
	if key != nil && !h.hidden[*key] {
		t.vanished = true
		h.hidden[*key] = true
		h.tally.vanished++
		h.log.Info("VANISHED", "key", *key)
	}
}

// recover does what a person does about an error: it brings back what had vanished, and
// confirms it.
func (h *house) recover(t *tenant) {
	var reason *string
	err := h.pool.QueryRow(h.ctx, `select error_reason from weir.workspaces where id = $1 and deleted_at is null and phase = 'ERROR' and operation = 'NONE'`, t.id).Scan(&reason)
	if errors.Is(err, pgx.ErrNoRows) {
		return
	}
	if err != nil {
		h.Fatal(err)
	}
	h.mu.Lock()
	maps.DeleteFunc(h.hidden, func(key string, _ bool) bool { return strings.Contains(key, t.id.String()) })
	h.mu.Unlock()
	if reason != nil && *reason == "DataLost" && !t.vanished {
		h.find(ruleHome, t.name, "it is said to be lost, and nothing of it had vanished")
	}
	h.exec(`select weir.workspace_recover($1, 'bob', at => $2)`, t.id, h.now())
	h.tally.recovered++
	h.log.Info("RECOVERED", "workspace", t.name)
}

// passTime ends the pause between two tries.
func (h *house) passTime(all ...*tenant) {
	var ids []weir.ID
	for _, t := range all {
		ids = append(ids, t.id)
	}
	h.exec(`update weir.workspaces set op_retry_at = $1 where op_retry_at > $1 and id = any ($2)`, h.now(), ids)
}

// heal lets a controller work without faults until everything is as wanted. Paused
// controllers continue in the meantime.
func (h *house) heal(paused []*reign) {
	h.Helper()
	r := h.begin(moment{})
	defer r.over()
	for n, end := 0, time.Now().Add(h.heals); time.Now().Before(end); n++ {
		if n < len(paused) {
			paused[n].goOn()
			paused[n].over()
		}
		for _, t := range h.tenants {
			h.recover(t)
		}
		if err := r.tick(r.work, true); err != nil {
			h.find(ruleConverge, "", "tick: %v", err)
			return
		}
		h.passTime(h.tenants...)
		var all bool
		h.scan(`select coalesce(bool_and(phase = desired and operation = 'NONE'), true) from weir.workspaces`, nil, &all)
		if all && n >= len(paused) {
			return
		}
		if n > 20 {
			loop.Wait(h.ctx, 10*time.Millisecond, nil) // a program takes time to start
		}
	}
	rows, _ := h.pool.Query(h.ctx, `select name || ': ' || concat_ws(' ', 'wants', desired, 'is', phase, operation, error_reason, error_message) from weir.workspaces where phase <> desired or operation <> 'NONE'`)
	texts, err := pgx.CollectRows(rows, pgx.RowTo[string])
	h.find(ruleConverge, "", "after %s without faults: %s %v", h.heals, strings.Join(texts, "; "), err)
}

// conclude judges the result: first as it is, then once more when everything is archived
// and the collector has run.
func (h *house) conclude() {
	h.Helper()
	h.judgeHomes()
	for _, t := range h.tenants {
		if !t.deleted.Load() {
			h.want(t, "ARCHIVED")
		}
	}
	h.heal(nil)
	r := h.begin(moment{})
	for range 2 {
		if err := r.tick(r.collect, true); err != nil {
			h.find(ruleConverge, "", "collect: %v", err)
		}
		h.ahead.Add(int64(3 * time.Hour))
	}
	r.over()
	h.judgeHomes()
	h.judgeTimeline()
	h.judgeRest()
}

// judgeRest looks for what is left of deleted workspaces, and clears the house.
func (h *house) judgeRest() {
	h.Helper()
	ctx := context.WithoutCancel(h.ctx)
	world, err := h.provider.Look(ctx)
	if err != nil {
		h.Fatal(err)
	}
	for id := range world.Containers {
		h.find(ruleLeft, id.String(), "a container is left")
		if err := h.provider.Stop(ctx, id); err != nil {
			h.Error(err)
		}
	}
	for id, v := range world.Volumes {
		// A late controller may have left a volume that is older than the archive. It is
		// not a home.
		var older bool
		if h.scan(`select coalesce(bool_or(deleted_at is null and archive_generation > $2), false) from weir.workspaces where id = $1`, []any{id, v.Mounts}, &older); !older {
			h.find(ruleLeft, id.String(), "a volume is left: %+v", v)
		}
		if err := h.provider.Remove(ctx, id, v); err != nil {
			h.Error(err)
		}
	}
	objects, err := h.bucket.List(ctx, "", "", 0)
	if err != nil {
		h.Fatal(err)
	}
	var keys []string
	for _, o := range objects {
		keys = append(keys, o.Key)
		for _, t := range h.tenants {
			if t.deleted.Load() && strings.Contains(o.Key, t.id.String()) {
				h.find(ruleLeft, t.name, "it is deleted, and %s is left", o.Key)
			}
		}
	}
	if err := h.bucket.Delete(ctx, keys...); err != nil {
		h.Fatal(err)
	}
	h.exec(`delete from weir.workspaces`)
}

// judgeHomes checks each home, wherever it is.
func (h *house) judgeHomes() {
	h.Helper()
	for _, t := range h.tenants {
		if t.deleted.Load() {
			continue
		}
		var phase string
		h.scan(`select phase from weir.workspaces where id = $1`, []any{t.id}, &phase)
		switch phase {
		case "RUNNING", "STANDBY":
			if differs := t.compare(filepath.Join(h.dir, "volumes", "ws-"+t.id.String()+"-home", "data")); len(differs) > 0 {
				h.find(ruleHome, t.name, "%s: %v", phase, differs)
			}
		case "ARCHIVED":
			if differs := h.archived(t); len(differs) > 0 {
				h.find(ruleHome, t.name, "%s: %v", phase, differs)
			}
			h.tally.archives++
		default:
			h.find(ruleHome, t.name, "it is %s", phase)
		}
	}
}

// judgeTimeline checks that only one operation of a workspace at a time was under way.
func (h *house) judgeTimeline() {
	h.Helper()
	for _, t := range h.tenants {
		rows, err := h.pool.Query(h.ctx, `select type, coalesce(data ->> 'operation', ''), coalesce(level, '') from weir.events where kind = 'workspace' and subject = $1::text and type in ('began', 'completed', 'failed', 'void') order by seq`, t.id)
		if err != nil {
			h.Fatal(err)
		}
		under := ""
		var kind, operation, level string
		if _, err := pgx.ForEachRow(rows, []any{&kind, &operation, &level}, func() error {
			switch {
			case kind == "began" && under != "":
				h.find(ruleAtOnce, t.name, "%s began during %s", operation, under)
			case kind == "began":
				under = operation
			case kind == "completed" && under != operation:
				h.find(ruleAtOnce, t.name, "%s was completed during %q", operation, under)
			case kind == "completed", kind == "void", level == "error":
				under = ""
			}
			return nil
		}); err != nil {
			h.Fatal(err)
		}
	}
}

// keepDiary stores what happened in a failed run.
func (h *house) keepDiary(seed uint64) string {
	path := filepath.Join(h.ArtifactDir(), fmt.Sprintf("workspaces-%d.log", seed))
	return fmt.Sprint(path, " (keep it with -artifacts) ", os.WriteFile(path, []byte(h.diary.Take()), 0o600))
}

// accuses fails the test for the findings.
func (h *house) accuses() {
	h.Helper()
	if len(h.found) > 0 {
		h.Errorf("%s\ndiary: %s", Report(h.found), h.keepDiary(0))
	}
}
