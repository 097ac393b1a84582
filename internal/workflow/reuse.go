package workflow

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/reason"
	"github.com/weirhq/weir/internal/workflow/definition"
)

// Verdict says of a step of a rerun whether it ends as it did before, and why not. The
// words are for people; programs read the code.
type Verdict struct {
	Step   string         `json:"step"`
	Reused bool           `json:"reused" doc:"It does not run: it ends with the result and the files that it had."`
	Code   string         `json:"code" doc:"The reason for programs: again_kept, again_all, again_from, again_finally, again_not_done, again_new, again_changed, again_need or again_values."`
	Args   map[string]any `json:"args,omitempty"`
	Reason string         `json:"reason" doc:"The reason for people, in English."`
}

// In returns the reason in a language.
func (v Verdict) In(language string) string {
	return (&reason.Coded{Code: v.Code, Args: v.Args}).In(language, v.Reason)
}

func verdict(step, code string, args map[string]any) Verdict {
	return Verdict{Step: step, Reused: code == kept, Code: code, Args: args, Reason: reason.Say("en", code, args)}
}

// kept is the code of a step that ends as it did.
const kept = "again_kept"

// run is a job with what its templates read: its definition, options and params.
type run struct {
	job     jobRow
	parsed  *parsed
	options jobOptions
	params  map[string]any
}

// runOf reads a job and its definition.
func (s *Store) runOf(ctx context.Context, id weir.ID) (r run, err error) {
	jobs, err := s.jobs(ctx, []weir.ID{id})
	if err != nil {
		return r, fmt.Errorf("read job %s: %w", id, err)
	}
	r.job = jobs[id]
	if r.parsed, err = s.load(ctx, r.job.Definition); err != nil {
		return r, err
	}
	if r.options, err = r.job.optionsOf(); err != nil {
		return r, err
	}
	r.params, err = r.parsed.Input(r.options.Options)
	return r, err
}

// alike reports whether two runs are of the same version with the same options, so that no
// step of one can differ from that of the other.
func (r *run) alike(other *run) bool {
	return r.parsed.id == other.parsed.id && reflect.DeepEqual(plain(r.options.Options), plain(other.options.Options))
}

// plain returns options in the form that a comparison needs: numbers may have come in
// several types.
func plain(o definition.Options) (v any) {
	text, err := json.Marshal(o)
	if err != nil || json.Unmarshal(text, &v) != nil {
		return o
	}
	return v
}

// rerun is a job that runs another one again, and that one with how its tasks ended.
type rerun struct {
	now, was run
	old      map[string]taskRow
	from     string
	// same is set if nothing but the outcome can differ.
	same bool
	// stays are the steps that are reused, each after its needs; judge fills it.
	stays []string
}

// judge says of each step of a rerun whether it ends as it did, in the order of the steps.
// A step does if it was done, or was skipped with its dependents continuing; if its
// definition says the same; if the values are the same that it gets from the params of the
// job; and if that is true of all steps that it needs.
func (r *rerun) judge() []Verdict {
	known := map[string]Verdict{}
	var visit func(key string) Verdict
	visit = func(key string) Verdict {
		if v, ok := known[key]; ok {
			return v
		}
		known[key] = verdict(key, "again_need", map[string]any{"step": key}) // lint refuses rings
		v := r.judgeAlone(key)
		for _, need := range r.now.parsed.Step(key).Needs {
			if before := visit(need); !before.Reused && v.Reused {
				v = verdict(key, "again_need", map[string]any{"step": need})
			}
		}
		if v.Reused && !r.same && !r.valuesSame(key) {
			v = verdict(key, "again_values", nil)
		}
		if known[key] = v; v.Reused {
			r.stays = append(r.stays, key)
		}
		return v
	}
	out := make([]Verdict, len(r.now.parsed.Steps))
	for i := range r.now.parsed.Steps {
		out[i] = visit(r.now.parsed.Steps[i].Key)
	}
	return out
}

// judgeAlone judges a step without its needs and its values.
func (r *rerun) judgeAlone(key string) Verdict {
	was, ok := r.old[key]
	before := r.was.parsed.Step(key)
	switch {
	case key == r.from:
		return verdict(key, "again_from", nil)
	case r.now.parsed.Step(key).Finally: // the new job has an end of its own
		return verdict(key, "again_finally", nil)
	case !ok || before == nil:
		return verdict(key, "again_new", nil)
	case !was.fine():
		return verdict(key, "again_not_done", map[string]any{"state": was.State})
	case !r.same && !sameStep(before, r.now.parsed.Step(key)):
		return verdict(key, "again_changed", nil)
	}
	return verdict(key, kept, nil)
}

// sameStep reports whether two steps do the same. When, where and how often they do it
// does not count, because it does not change what was done.
func sameStep(a, b *definition.Step) bool {
	return bytes.Equal(essence(a), essence(b))
}

func essence(s *definition.Step) []byte {
	c := *s
	c.Description, c.Retry, c.Timeout, c.Disconnect, c.Labels, c.Prefer, c.Sticky, c.Pool, c.Priority, c.Delay = "", nil, nil, nil, nil, nil, nil, "", nil, 0
	if c.Map != nil {
		over := *c.Map
		over.Limit = 0
		c.Map = &over
	}
	text, err := json.Marshal(&c)
	if err != nil {
		return []byte(err.Error()) // values of JSON always become JSON
	}
	return text
}

// valuesSame reports whether a step would be given the same in both runs, with the results
// that its needs had.
func (r *rerun) valuesSame(key string) bool {
	facts := r.was.job.facts(r.was.options)
	needs := map[string]definition.NeedFacts{}
	for _, p := range []*parsed{r.was.parsed, r.now.parsed} {
		reads, err := p.Reads(key)
		if err != nil {
			return false
		}
		for _, need := range reads {
			t := r.old[need]
			needs[need] = t.facts()
		}
	}
	a, err := r.was.parsed.Resolve(key, definition.Facts{Params: r.was.params, Options: r.was.options.Options, Job: facts, Needs: needs})
	if err != nil {
		return false
	}
	b, err := r.now.parsed.Resolve(key, definition.Facts{Params: r.now.params, Options: r.now.options.Options, Job: facts, Needs: needs})
	if err != nil {
		return false
	}
	return a.Skip == b.Skip && a.Workflow == b.Workflow && a.Version == b.Version &&
		reflect.DeepEqual(plain(a.Options), plain(b.Options)) &&
		bytes.Equal(a.Params, b.Params) && bytes.Equal(work(a.Run), work(b.Run)) && slices.EqualFunc(a.Items, b.Items, sameItem)
}

func sameItem(a, b definition.Task) bool {
	return a.Service == b.Service && bytes.Equal(a.Params, b.Params) && bytes.Equal(work(a.Run), work(b.Run))
}

// work returns the part of a run that says what is done: its limits and retries left out.
func work(run json.RawMessage) []byte {
	var fields map[string]json.RawMessage
	if len(run) == 0 || json.Unmarshal(run, &fields) != nil {
		return run
	}
	maps.DeleteFunc(fields, func(key string, _ json.RawMessage) bool {
		return key == "timeout" || key == "retry_on" || key == "disconnect"
	})
	text, err := json.Marshal(fields)
	if err != nil || len(fields) == 0 {
		return nil
	}
	return text
}

// rerunOf reads what a rerun is judged by. now is the new job, which need not exist yet.
// Results are read if they are asked for, or if values must be compared.
func (s *Store) rerunOf(ctx context.Context, now run, origin weir.ID, from string, results bool) (*rerun, error) {
	was, err := s.runOf(ctx, origin)
	if err != nil {
		return nil, err
	}
	r := &rerun{now: now, was: was, old: map[string]taskRow{}, from: from}
	if r.same = now.alike(&was); r.same && !results {
		r.old, err = s.outcomes(ctx, origin)
		return r, err
	}
	tasks, err := s.tasksOf(ctx, origin)
	if err != nil {
		return nil, fmt.Errorf("read job %s: %w", origin, err)
	}
	for _, t := range tasks {
		r.old[t.Key] = t
	}
	return r, nil
}

// reuse returns the steps of a rerun that need not run, each after its needs.
func (s *Store) reuse(ctx context.Context, now run, origin weir.ID, r RerunBody) ([]reused, error) {
	if r.From == "" && !r.Failed {
		return nil, nil
	}
	again, err := s.rerunOf(ctx, now, origin, r.From, true)
	if err != nil {
		return nil, err
	}
	again.judge()
	var list []reused
	for _, key := range again.stays {
		t := again.old[key]
		list = append(list, reused{Key: key, Outcome: t.State, Result: t.Result, Cause: t.Cause})
	}
	return list, nil
}

// keepItems lets the items of a map that were done in the origin end as they did there,
// if the step says the same and produces the same items again, and returns their names. A
// map that depends on the step from which the job runs again starts over, and so does one
// whose inputs come from a step that ran again.
func (l *leader) keepItems(ctx context.Context, s *step, items []definition.Task) ([]string, error) {
	r := s.options.Rerun
	if r == nil || r.From == "" && !r.Failed || s.job.Origin.IsZero() || r.From != "" && s.parsed.follows(s.key, r.From) {
		return nil, nil
	}
	again, err := l.rerunOf(ctx, run{s.job, s.parsed, s.options, s.params}, s.job.Origin, r.From, false)
	if err != nil {
		return nil, err
	}
	before := again.was.parsed.Step(s.key)
	if before == nil || !sameStep(before, s.parsed.Step(s.key)) {
		return nil, nil
	}
	again.judge()
	for _, in := range s.parsed.Step(s.key).Inputs {
		if !slices.Contains(again.stays, in.From) {
			return nil, nil
		}
	}
	if same, err := l.sameItems(ctx, s, again.was, items); !same {
		return nil, err
	}
	var keys []string
	for i := range items {
		if again.old[items[i].Key].State == "done" {
			items[i].Plan, items[i].Patience = true, nil // it waits until it is ended
			keys = append(keys, items[i].Key)
		}
	}
	return keys, nil
}

// sameItems reports whether the step of the origin would produce these items too, with its
// needs as they ended there.
func (l *leader) sameItems(ctx context.Context, s *step, was run, items []definition.Task) (bool, error) {
	reads, err := was.parsed.Reads(s.key)
	if err != nil {
		return false, nil // it has no items then
	}
	rows, err := l.facts(ctx, []weir.ID{s.job.Origin}, reads)
	if err != nil {
		return false, fmt.Errorf("read job %s: %w", s.job.Origin, err)
	}
	needs := make(map[string]definition.NeedFacts, len(rows))
	for i := range rows {
		needs[rows[i].Key] = rows[i].facts()
	}
	old, err := was.parsed.Resolve(s.key, definition.Facts{Params: was.params, Options: was.options.Options, Job: s.job.facts(was.options), Needs: needs})
	if err != nil {
		return false, nil // its needs were different
	}
	return slices.EqualFunc(old.Items, items, sameItem), nil
}
