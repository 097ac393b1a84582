package rolloutpages

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/rollout"
	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/web/ui"
)

const (
	// lookMost is how many databases a preview looks at; lookTime how long all of
	// that may take. Somebody waits for the page.
	lookMost, lookTime = 100, 20 * time.Second
)

// planPage is the form of a plan, with what the plan would do once it was asked.
type planPage struct {
	*planForm
	// was is the rollout whose place the new one takes; nil: none.
	was     *rollout.Rollout
	preview *previewView
	// other says that the plan is not the one that the reader has looked at.
	other   bool
	problem *problem.Problem
	// register says that the reader may add databases.
	register bool
	action   string
}

// approvals is how many people said yes to the plan before.
func (p planPage) approvals() (n int) {
	for _, s := range p.was.Stages {
		n += len(s.Approved)
	}
	return n
}

// pasting says that the field for a script is open: one was begun, or nothing else is
// there.
func (p planPage) pasting() bool { return len(p.files) == 0 || p.paste != pasted{} }

func (p planPage) back() string {
	if p.was != nil {
		return site.RolloutPath(p.was.ID)
	}
	return "/rollouts"
}

// planned is what the form of a plan works on: the rollout of the path, if it is an
// edit, and its plan.
func (w *pages) planned(r *site.Request, edit bool) (store *rollout.Store, p planPage, plan rollout.Plan, err error) {
	if store, err = w.rolls(); err != nil {
		return nil, p, plan, err
	}
	p = planPage{register: r.Can(auth.Manage, "database"), action: r.URL.Path}
	if !edit {
		return store, p, plan, nil
	}
	v, err := w.rolloutOf(r)
	if err != nil {
		return nil, p, plan, err
	}
	p.was = &v.Rollout
	plan, err = store.Plan(r.Context(), v.ID)
	return store, p, plan, err
}

// planForm shows the form: an empty one, or that of the plan of a rollout.
func (w *pages) planForm(edit bool) func(*site.Request) (site.View, error) {
	return func(r *site.Request) (site.View, error) {
		store, p, plan, err := w.planned(r, edit)
		if err != nil {
			return site.View{}, err
		}
		environments, err := store.Environments(r.Context(), environmentsMost)
		if err != nil {
			return site.View{}, err
		}
		if p.planForm = newPlanForm(environments); edit {
			if !p.editable(r) {
				return site.View{}, problem.New(problem.Conflict, "abort it and create another; what is applied already is not applied again", "this rollout can no longer be edited")
			}
			if len(plan.Stages) > environmentsMost || len(plan.Changes) > filesMost {
				return site.View{}, problem.New(problem.Conflict, "replace it by weir rollout create --replaces "+p.was.ID.String(), "this plan is too large for a form")
			}
			p.planForm = filledPlan(plan)
			p.offer(environments)
		}
		return p.view(r, 0), nil
	}
}

func (p planPage) editable(r *site.Request) bool {
	return rolloutView{Rollout: *p.was, can: rolloutRightsOf(r)}.mayEdit()
}

func (p planPage) view(r *site.Request, status int) site.View {
	ctx := r.Context()
	head := ui.Head{Title: ui.Say(ctx, "rollouts.new"), Crumbs: []ui.Crumb{{Label: ui.Say(ctx, "rollouts.title"), Href: "/rollouts"}}}
	if p.was != nil {
		name := ui.Cut(ui.Line(p.was.Name), 80)
		head.Title = ui.Say(ctx, "new.edit", name)
		head.Crumbs = append(head.Crumbs, ui.Crumb{Label: name, Href: site.RolloutPath(p.was.ID)})
	}
	return site.View{Head: head, Body: planPageBody(p), Still: true, Status: status}
}

// doPlan does what the button of the form said: keep the files, leave one out, show
// what the plan would do, or create it.
func (w *pages) doPlan(edit bool) func(*site.Request) (site.Done, error) {
	return func(r *site.Request) (site.Done, error) {
		store, p, was, err := w.planned(r, edit)
		if err != nil {
			return site.Done{}, err
		}
		p.planForm = readPlanForm(r)
		environments, err := store.Environments(r.Context(), environmentsMost)
		if err != nil {
			return site.Done{}, err
		}
		p.offer(environments)
		step, which, _ := strings.Cut(r.Field("step"), ".")
		switch step {
		case "add":
		case "drop":
			if i, err := strconv.Atoi(which); err == nil && i >= 0 && i < len(p.files) {
				p.files = slices.Delete(p.files, i, i+1)
			}
		default:
			return w.previewOrCreate(r, store, p, was, step == "create")
		}
		status := 0
		if len(p.faults) > 0 {
			status = http.StatusUnprocessableEntity
		}
		return p.shown(r, status), nil
	}
}

func (p planPage) shown(r *site.Request, status int) site.Done {
	v := p.view(r, status)
	return site.Done{Show: &v}
}

// previewOrCreate creates only what the reader has looked at: a plan is that of its
// hash, which the databases of its stages are part of.
func (w *pages) previewOrCreate(r *site.Request, store *rollout.Store, p planPage, was rollout.Plan, create bool) (site.Done, error) {
	plan := p.plan(r, was)
	if len(p.faults) > 0 {
		return p.shown(r, http.StatusUnprocessableEntity), nil
	}
	ctx, cancel := context.WithTimeout(r.Context(), lookTime)
	defer cancel()
	preview, err := w.foresee(ctx, plan, true)
	if err != nil {
		return p.refused(r, err)
	}
	if create && p.seen == preview.Hash {
		made, err := w.create(r, store, p, plan, preview.Hash)
		if err != nil {
			return p.refused(r, err)
		}
		return site.Done{To: site.RolloutPath(made.ID), Say: ui.Say(r.Context(), "new.made")}, nil
	}
	p.other = create
	looked := databasesOf(preview) <= lookMost
	if looked {
		if preview, err = w.foresee(ctx, plan, false); err != nil {
			return p.refused(r, err)
		}
	}
	p.seen = preview.Hash
	p.preview = newPreview(preview, looked)
	return p.shown(r, 0), nil
}

// create makes the rollout. A form that is sent twice makes one: the key tells it
// from other forms, and the plan from the same form with other words in it.
func (w *pages) create(r *site.Request, store *rollout.Store, p planPage, plan rollout.Plan, hash string) (rollout.Rollout, error) {
	ctx := r.Context()
	if p.was == nil {
		text, err := json.Marshal(plan)
		if err != nil {
			return rollout.Rollout{}, err
		}
		sum := sha256.Sum256(text)
		in := &rollout.Creating{Keyed: op.Keyed{IdempotencyKey: "form/" + p.key + "/" + hex.EncodeToString(sum[:8])}}
		in.Body.Plan = plan
		made, err := rollout.Create.Call(ctx, w.Operations, in)
		return made.Rollout, err
	}
	made, err := rollout.Replace.Call(ctx, w.Operations, &rollout.Replacing{Named: rollout.Named{Rollout: p.was.ID.String()}, Body: plan})
	if err == nil {
		return made.Rollout, nil
	}
	if next := p.replacement(ctx, store); next.Hash == hash {
		return next, nil
	}
	return made.Rollout, err
}

// foresee says what a plan would do.
func (w *pages) foresee(ctx context.Context, plan rollout.Plan, offline bool) (rollout.Preview, error) {
	in := new(rollout.Planning)
	in.Body.Plan, in.Body.Offline = plan, offline
	return rollout.Foresee.Call(ctx, w.Operations, in)
}

// replacement is the rollout that took the place of the one of the form, if one did.
func (p planPage) replacement(ctx context.Context, store *rollout.Store) rollout.Rollout {
	old, err := store.Rollout(ctx, p.was.ID)
	if err != nil || old.ReplacedBy == (weir.ID{}) {
		return rollout.Rollout{}
	}
	next, err := store.Rollout(ctx, old.ReplacedBy)
	if err != nil {
		return rollout.Rollout{}
	}
	return next
}

// planFields are the fields of the form that a store may refuse, by its words.
var planFields = map[string]string{"name": "name", "stages": "stages", "changes": "files", "files": "files", "parallel": "parallel", "run_at": "run_at", "note": "note"}

// refused shows the form again with what was wrong, at its field if it has one.
func (p planPage) refused(r *site.Request, err error) (site.Done, error) {
	said := ui.Told(r.Context(), err)
	status := said.Kind.Status()
	if said.Kind == problem.Forbidden || said.Kind == problem.NotFound || status >= http.StatusInternalServerError {
		return site.Done{}, err
	}
	field := planFields[said.Field]
	if field == "" {
		p.problem = said
		return p.shown(r, status), nil
	}
	what := ui.Line(said.Sentence())
	if next := ui.Line(said.Next); next != "" {
		what += ": " + next
	}
	p.blame(field, what)
	return p.shown(r, status), nil
}

// databasesOf counts the databases of a plan.
func databasesOf(v rollout.Preview) int {
	seen := map[string]bool{}
	for _, s := range v.Stages {
		for _, t := range s.Tasks {
			seen[t.Database] = true
		}
	}
	return len(seen)
}

// field is an input of the form, with what is wrong about it.
func (p planPage) field(f ui.Field) []ui.Field {
	f.Fault = p.faults[f.Name]
	f.Focus = f.Focus && len(p.faults) == 0 && p.preview == nil || f.Fault != ""
	f.Auto = "off"
	return []ui.Field{f}
}

// places are the places that a stage may have, and none.
func (p planPage) places(ctx context.Context) []ui.Option {
	places := []ui.Option{{Value: outside, Label: ui.Say(ctx, "new.stage.out")}}
	for i := range p.stages {
		n := strconv.Itoa(i + 1)
		places = append(places, ui.Option{Value: n, Label: n})
	}
	return places
}

// stageFields are the inputs of a stage.
func (p planPage) stageFields(ctx context.Context, i int) (fields []ui.Field) {
	s := p.stages[i]
	for _, f := range []ui.Field{
		{Name: "at", Label: ui.Say(ctx, "new.stage.at"), Type: "select", Value: cmp.Or(s.at, outside), Options: p.places(ctx)},
		{Name: "approvals", Label: ui.Say(ctx, "new.stage.approvals"), Type: "number", Value: cmp.Or(s.approvals, "0")},
		{Name: "promote", Label: ui.Say(ctx, "new.stage.promote"), Type: "select", Value: s.promote, Options: []ui.Option{
			{Value: rollout.PromoteAuto, Label: ui.Say(ctx, "new.promote.auto")}, {Value: rollout.PromoteManual, Label: ui.Say(ctx, "new.promote.manual")},
		}},
		{Name: "on_failure", Label: ui.Say(ctx, "new.stage.onfailure"), Type: "select", Value: s.onFailure, Options: []ui.Option{
			{Value: rollout.OnFailureStop, Label: ui.Say(ctx, "new.failure.stop")},
			{Value: rollout.OnFailureContinue, Label: ui.Say(ctx, "new.failure.continue")},
			{Value: rollout.OnFailureAtMost, Label: ui.Say(ctx, "new.failure.at_most")},
		}},
		{Name: "max_failures", Label: ui.Say(ctx, "new.stage.maxfailures"), Type: "number", Value: cmp.Or(s.maxFailures, "0")},
		{Name: "canary", Label: ui.Say(ctx, "new.stage.canary"), Type: "number", Value: cmp.Or(s.canary, "0")},
		{Name: "databases", Label: ui.Say(ctx, "new.stage.only"), Value: s.only, Optional: true, Example: "orders-eu orders-us"},
	} {
		f.Name = s.field(i, f.Name)
		fields = append(fields, p.field(f)...)
	}
	return fields
}

// lostSaid says how many approvals an edit costs.
func lostSaid(ctx context.Context, n int) string {
	if n == 0 {
		return ""
	}
	return ui.Count(ctx, "new.lost", n)
}

// linesOf counts the lines of a text.
func linesOf(text string) int {
	return strings.Count(strings.TrimSuffix(text, "\n"), "\n") + 1
}
