package rolloutpages

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/weirhq/weir/internal/period"
	"github.com/weirhq/weir/internal/rollout"
	"github.com/weirhq/weir/internal/rollout/script"
	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/web/ui"
)

const (
	// environmentsMost is how many environments the form of a plan offers.
	environmentsMost = 40
)

// planForm is a plan as people fill it in. What they typed comes back as it was,
// right or wrong.
type planForm struct {
	name, note      string
	parallel, runAt string
	outOfOrder      bool
	files           []rollout.File
	paste           pasted
	stages          []stageForm
	// key makes one rollout of a form that is sent twice.
	key string
	// seen is the hash of the plan that the reader has looked at.
	seen string
	// faults are what is wrong, by field; passed are files that were left out.
	faults map[string]string
	passed []string
}

// pasted is a script that was typed, before it is a file.
type pasted struct{ version, name, text string }

// outside is the place of a stage that the rollout does not have.
const outside = "0"

// stageForm is a stage as people fill it in; at is its place among the stages.
type stageForm struct {
	name, environment              string
	at, approvals, promote, canary string
	onFailure, maxFailures, only   string
	// databases is how many its environment has.
	databases int
}

// field is the name of an input of the stage at a place.
func (stageForm) field(i int, what string) string { return "stage." + strconv.Itoa(i) + "." + what }

// stageOrder are words for environments in the order in which changes reach them.
var stageOrder = []string{"dev", "test", "qa", "uat", "stag", "pre", "prod", "live"}

func orderOf(environment string) int {
	i := slices.IndexFunc(stageOrder, func(word string) bool { return strings.HasPrefix(strings.ToLower(environment), word) })
	if i < 0 {
		return len(stageOrder)
	}
	return i
}

// newPlanForm is an empty form. A single environment is the stage.
func newPlanForm(environments []rollout.Environment) *planForm {
	f := &planForm{key: rand.Text(), faults: map[string]string{}}
	f.offer(environments)
	if len(f.stages) == 1 {
		f.stages[0].at = "1"
	}
	return f
}

// offer adds the environments that the form does not have yet, and counts those that
// it has.
func (f *planForm) offer(environments []rollout.Environment) {
	slices.SortStableFunc(environments, func(a, b rollout.Environment) int { return cmp.Compare(orderOf(a.Name), orderOf(b.Name)) })
	for _, e := range environments {
		has := false
		for i := range f.stages {
			if s := &f.stages[i]; cmp.Or(s.environment, s.name) == e.Name {
				s.databases, has = e.Databases, true
			}
		}
		if !has && len(f.stages) < environmentsMost {
			f.stages = append(f.stages, stageForm{name: e.Name, promote: rollout.PromoteAuto, onFailure: rollout.OnFailureStop, databases: e.Databases})
		}
	}
}

// filledPlan is the form of a plan that there is.
func filledPlan(p rollout.Plan) *planForm {
	f := &planForm{name: p.Name, note: p.Note, outOfOrder: p.OutOfOrder, parallel: numberText(p.Parallel), key: rand.Text(), faults: map[string]string{}}
	if p.RunAt != nil {
		f.runAt = p.RunAt.UTC().Format(time.RFC3339)
	}
	for _, c := range p.Changes {
		f.files = append(f.files, rollout.File{Name: cmp.Or(c.File, cmp.Or(c.Version, c.Name)+".sql"), Text: unixLines(c.SQL)})
	}
	for i, s := range p.Stages {
		f.stages = append(f.stages, stageForm{
			name: s.Name, environment: s.Environment, at: strconv.Itoa(i + 1), approvals: numberText(s.Approvals), canary: numberText(s.Canary),
			promote: cmp.Or(s.Promote, rollout.PromoteAuto), onFailure: cmp.Or(s.OnFailure, rollout.OnFailureStop), maxFailures: numberText(s.MaxFailures),
			only: strings.Join(s.Databases, " "),
		})
	}
	return f
}

// numberText is a number as it stands in a field: nothing for none.
func numberText(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// unixLines is a text with the line ends that a form does not change.
func unixLines(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

// readPlanForm reads what was sent. Files that came with it join those of before.
func readPlanForm(r *site.Request) *planForm {
	f := &planForm{
		name: r.Field("name"), note: r.Field("note"), parallel: r.Field("parallel"), runAt: r.Field("run_at"), outOfOrder: r.Field("out_of_order") != "",
		key: r.Field("key"), seen: r.Field("seen"), faults: map[string]string{},
	}
	if f.key == "" || len(f.key) > site.KeyMost {
		f.key = rand.Text()
	}
	for i := range environmentsMost {
		var s stageForm
		if s.name = r.Field(s.field(i, "name")); s.name == "" {
			break
		}
		get := func(what string) string { return r.Field(s.field(i, what)) }
		s.environment, s.at, s.approvals, s.promote = get("environment"), get("at"), get("approvals"), get("promote")
		s.onFailure, s.maxFailures, s.canary, s.only = get("on_failure"), get("max_failures"), get("canary"), get("databases")
		f.stages = append(f.stages, s)
	}
	f.readFiles(r)
	return f
}

// blame puts a fault at a field, the first one that is found.
func (f *planForm) blame(field, what string) {
	if f.faults[field] == "" {
		f.faults[field] = what
	}
}

// number reads a field that is a number of zero or more, or empty.
func (f *planForm) number(r *site.Request, field, text string) int {
	n, err := strconv.Atoi(cmp.Or(text, "0"))
	if err != nil || n < 0 || n > 100_000 {
		f.blame(field, ui.Say(r.Context(), "new.fault.number", ui.Cut(ui.Line(text), 40)))
		return 0
	}
	return n
}

// plan is what the form asks for. Changes that are as they were in the plan before
// are taken over with all that their files said. Check the faults afterwards.
func (f *planForm) plan(r *site.Request, was rollout.Plan) rollout.Plan {
	ctx := r.Context()
	p := rollout.Plan{Name: f.name, Note: f.note, OutOfOrder: f.outOfOrder, Parallel: f.number(r, "parallel", f.parallel)}
	if f.name == "" {
		f.blame("name", ui.Say(ctx, "new.fault.name"))
	}
	at, err := futureTime(f.runAt, r.Now)
	switch {
	case err != nil:
		f.blame("run_at", ui.Say(ctx, "new.fault.time", ui.Cut(ui.Line(f.runAt), 40)))
	case !at.IsZero():
		p.RunAt, f.runAt = &at, at.Format(time.RFC3339)
	}
	for _, file := range f.files {
		same := slices.IndexFunc(was.Changes, func(c script.Change) bool {
			return file.Name == cmp.Or(c.File, cmp.Or(c.Version, c.Name)+".sql") && file.Text == unixLines(c.SQL)
		})
		if same >= 0 {
			p.Changes = append(p.Changes, was.Changes[same])
		} else {
			p.Files = append(p.Files, file)
		}
	}
	if len(f.files) == 0 {
		f.blame("files", ui.Say(ctx, "new.fault.files"))
	}
	rows := f.planStages(r, &p)
	for _, fault := range p.Faults() {
		said := ui.Spoken(ctx, fault.Problem)
		field, what := planFields[fault.Field], ui.Line(said.Sentence()+": "+said.Next)
		if fault.Stage >= 0 {
			row := rows[fault.Stage]
			field = "stages"
			if slices.Contains(stageFields, fault.Field) {
				field = f.stages[row].field(row, fault.Field)
			}
		}
		f.blame(field, what)
	}
	return p
}

// stageFields are the fields of a stage that can be wrong by themselves.
var stageFields = []string{"approvals", "promote", "on_failure", "max_failures", "canary"}

// planStages puts the chosen stages into the plan, in their order, and says in which
// row of the form each is.
func (f *planForm) planStages(r *site.Request, p *rollout.Plan) (rows []int) {
	ctx := r.Context()
	places := map[int]int{}
	for i, s := range f.stages {
		if s.at == "" || s.at == outside {
			continue
		}
		at := f.number(r, s.field(i, "at"), s.at)
		if _, taken := places[at]; taken {
			f.blame(s.field(i, "at"), ui.Say(ctx, "new.fault.place", at))
			continue
		}
		places[at] = i
	}
	if len(places) == 0 {
		f.blame("stages", ui.Say(ctx, "new.fault.stages"))
	}
	for _, at := range slices.Sorted(maps.Keys(places)) {
		rows = append(rows, places[at])
		p.Stages = append(p.Stages, f.planStage(r, places[at]))
	}
	return rows
}

// planStage is the stage of a row. What is the rule anyway is not said, so that the
// same plan has the same hash.
func (f *planForm) planStage(r *site.Request, i int) rollout.Stage {
	s := f.stages[i]
	out := rollout.Stage{
		Name: s.name, Environment: s.environment, Approvals: f.number(r, s.field(i, "approvals"), s.approvals), Canary: f.number(r, s.field(i, "canary"), s.canary),
		Databases: strings.FieldsFunc(s.only, func(c rune) bool { return c == ',' || unicode.IsSpace(c) }),
	}
	if s.promote != rollout.PromoteAuto {
		out.Promote = s.promote
	}
	if s.onFailure != rollout.OnFailureStop {
		out.OnFailure = s.onFailure
	}
	if s.onFailure == rollout.OnFailureAtMost {
		out.MaxFailures = f.number(r, s.field(i, "max_failures"), s.maxFailures)
	}
	return out
}

// futureTime reads a time, or how long it is until then. Without a zone it is UTC.
func futureTime(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02T15:04:05", "2006-01-02T15:04"} {
		if at, err := time.Parse(layout, text); err == nil {
			return at.UTC(), nil
		}
	}
	d, err := period.Parse(text)
	if err != nil {
		return time.Time{}, fmt.Errorf("%q is no time", text)
	}
	return now.Add(d).UTC().Truncate(time.Second), nil
}
