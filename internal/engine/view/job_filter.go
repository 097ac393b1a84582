package view

import (
	"context"
	"strings"
	"time"

	"github.com/weirhq/weir"
)

// JobFilter narrows a list of jobs. The zero value is everything.
type JobFilter struct {
	State string `json:"state,omitempty"`
	Kind  string `json:"kind,omitempty"`
	// Name is the name, or with * at its end how it begins.
	Name string `json:"name,omitempty"`
	// Workflow is the name of a workflow: jobs that are runs of it.
	Workflow string `json:"workflow,omitempty"`
	// Schedule is the name of a schedule: jobs that it opened.
	Schedule string `json:"schedule,omitempty"`
	// Parent is a task: jobs that it waits or waited for.
	Parent weir.ID `json:"parent,omitzero"`
	// Origin is a job: jobs that repeat it.
	Origin weir.ID `json:"origin,omitzero"`
	// Of is a job: jobs that its steps wait or waited for.
	Of weir.ID `json:"of,omitzero"`
	// Since leaves out what was made before.
	Since time.Time `json:"since,omitzero"`
}

// workflowKind is the kind of the runs of workflows.
const workflowKind = "workflow"

// nameLength is how much of a job's name its index has.
const nameLength = 200

// jobWalk chooses the table to walk: jobs that an index finds, if they are few;
// those that live, for they are never many; else all of a workflow, of a schedule
// or of a kind, or those of a state.
func (s *Store) jobWalk(ctx context.Context, op string, f JobFilter) (*walk, error) {
	few, ok, err := s.fewJobs(ctx, op, f)
	if err != nil {
		return nil, err
	}
	w := &walk{from: "weir.jobs", id: "s.id"}
	asked, kind := w.hold, f.Kind
	switch {
	case ok:
		w.key("s.id = any (%s)", few)
		w.state(f.State)
	case living("s", f.State) != "":
		w.from, w.id, asked = "weir.job_live", "s.job", w.inJobs()
		if f.State == "queued" {
			w.key(living("s", f.State), nil)
		} else {
			w.hold(living("s", f.State), nil)
		}
	case f.Workflow != "":
		w.one(`left(s.name, 200) collate "C"`, first(f.Workflow, nameLength))
		w.state(f.State)
	case f.Schedule != "":
		w.one("s.schedule", f.Schedule)
		w.state(f.State)
	case f.State == "" || f.State == "done" && f.Kind+f.Name != "":
		w.state(f.State)
		if kind != "" {
			w.one("s.kind", kind)
			kind = ""
		}
	default:
		w.from, w.id, asked = "weir.job_finished", "s.job", w.inJobs()
		if f.State == "done" {
			w.hold("s.outcome = 'done'", nil)
		} else {
			w.key("s.outcome = '"+f.State+"'", nil) // one of JobStates; a parameter would not find the index
		}
	}
	if f.Workflow != "" {
		asked("s.name = %s", f.Workflow)
		asked("s.kind = %s", workflowKind)
	}
	for _, c := range []condition{{"s.kind = %s", kind}, {"s.schedule = %s", f.Schedule}, f.named()} {
		if c.value != "" {
			asked(c.format, c.value)
		}
	}
	for _, c := range []struct {
		format string
		id     weir.ID
	}{{"s.parent = %s", f.Parent}, {"s.origin = %s", f.Origin}, {"s.parent = any (array(select t.id from weir.tasks t where t.job = %s and t.plan is not null))", f.Of}} {
		if !c.id.IsZero() {
			asked(c.format, c.id)
		}
	}
	w.since(f.Since)
	return w, nil
}

// named is the condition on the name, without a value if there is none.
func (f JobFilter) named() condition {
	if prefix, begins := strings.CutSuffix(f.Name, "*"); begins {
		return condition{"s.name ^@ %s", prefix}
	}
	return condition{"s.name = %s", f.Name}
}

// first is so much of a text, in characters.
func first(text string, most int) string {
	runes := []rune(text)
	return string(runes[:min(most, len(runes))])
}

// fewJobs are those that an index finds, if they are few.
func (s *Store) fewJobs(ctx context.Context, op string, f JobFilter) (ids []weir.ID, ok bool, err error) {
	switch {
	case !f.Parent.IsZero():
		return s.fewIDs(ctx, op, `select j.id from weir.jobs j where j.parent = $1`, f.Parent)
	case !f.Of.IsZero():
		return s.fewIDs(ctx, op, `select j.id from weir.jobs j where j.parent = any (array(select q.id from weir.tasks q where q.job = $1 and q.plan is not null))`, f.Of)
	case !f.Origin.IsZero():
		return s.fewIDs(ctx, op, `select j.id from weir.jobs j where j.origin = $1`, f.Origin)
	case f.Name != "":
		prefix, whole := strings.CutSuffix(f.Name, "*")
		args := beginning(prefix)
		if !whole { // the index has the beginning; the rest is held against it
			args = []any{first(prefix, nameLength), first(prefix, nameLength) + "\x01"}
		}
		return s.fewIDs(ctx, op, `select j.id from weir.jobs j where `+begins(`left(j.name, 200)`), args...)
	}
	return nil, false, nil
}

// living is how a row of weir.job_live tells that its job is in a state; empty for
// a state that an ended job is in.
func living(row, state string) string {
	switch state {
	case "queued":
		return row + ".due is not null"
	case "running":
		return row + ".due is null and " + row + ".cancel_at is null"
	case "canceling":
		return row + ".cancel_at is not null"
	}
	return ""
}

// one narrows a walk to one value, of which an index has the order: a range of
// one, so that no other index has it too.
func (w *walk) one(column, value string) {
	w.key(column+" between %[1]s and %[1]s", value)
	w.order = column + " desc, "
}

// inJobs looks conditions up in weir.jobs for a walk over another table.
func (w *walk) inJobs() func(format string, value any) {
	w.also = `, lateral (select * from weir.jobs q where q.id = s.walked offset 0) q`
	return w.look
}

// state holds the jobs walked against the table that has the state.
func (w *walk) state(state string) {
	switch live := living("l", state); {
	case state == "":
	case live != "":
		w.hold("(select "+live+" from weir.job_live l where l.job = s.id)", nil)
	default:
		w.hold("(select f.outcome = %s::text::weir.state from weir.job_finished f where f.job = s.id)", state)
	}
}
