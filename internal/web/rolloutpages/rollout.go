package rolloutpages

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strings"

	"github.com/a-h/templ"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/rollout"
	"github.com/weirhq/weir/internal/rollout/script"
	"github.com/weirhq/weir/internal/timeline"
	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/web/ui"
)

// textsMost is how many changes a plan shows with their SQL.
const textsMost = 20

// rolloutTabs are the views of a rollout, by the end of their addresses.
var rolloutTabs = []struct{ key, end string }{{"rollout.board", ""}, {"rollout.tasks", "/tasks"}, {"rollout.plan", "/plan"}}

// rolloutView is what all views of a rollout show.
type rolloutView struct {
	rollout.Rollout
	can rolloutRights
	tab string
	// me is the reader as approvals know them.
	me string
}

func (v rolloutView) tabs(ctx context.Context) []ui.Tab {
	out := make([]ui.Tab, 0, len(rolloutTabs)+1)
	for _, t := range rolloutTabs {
		tab := ui.Tab{Label: ui.Say(ctx, t.key), Href: site.RolloutPath(v.ID) + t.end, Current: t.end == v.tab}
		if t.end == "/tasks" {
			tab.Count = ui.Number(v.Counts.Total)
		}
		out = append(out, tab)
	}
	return append(out, ui.Tab{Label: ui.Say(ctx, "rollout.timeline"), Href: site.JobPath(v.ID) + "/timeline"})
}

// over says that no command of the whole rollout does anything any more.
func (v rolloutView) over() bool { return v.FinishedAt != nil || v.AbortedAt != nil }

// mayEdit says that nothing has run, as far as the counts tell: the store knows.
func (v rolloutView) mayEdit() bool {
	return v.can.submit && !v.over() && v.Counts.Total == v.Counts.NotStarted+v.Counts.Pending+v.Counts.Available
}

func (v rolloutView) mayStart() bool { return v.can.command && v.StartedAt == nil && !v.over() }

func (v rolloutView) mayPause() bool {
	return v.can.command && v.StartedAt != nil && v.PausedAt == nil && !v.over()
}

func (v rolloutView) mayResume() bool { return v.can.command && v.PausedAt != nil && !v.over() }

func (v rolloutView) mayAbort() bool { return v.can.override && !v.over() }

// approved says whether the reader has said yes to a stage.
func (v rolloutView) approved(s rollout.StageState) bool {
	return slices.ContainsFunc(s.Approved, func(a rollout.Approval) bool { return a.By == v.me })
}

// begun says that a stage is past its gates.
func begun(s rollout.StageState) bool {
	return s.State != rollout.StateNotStarted && s.State != rollout.StateWaiting
}

func missing(s rollout.StageState) int { return max(0, s.Approvals-len(s.Approved)) }

func (v rolloutView) mayApprove(s rollout.StageState) bool {
	return v.can.override && !v.over() && missing(s) > 0 && !v.approved(s)
}

func (v rolloutView) mayRevoke(s rollout.StageState) bool {
	return v.can.override && !v.over() && v.approved(s) && !begun(s)
}

func (v rolloutView) mayPromote(s rollout.StageState) bool {
	return v.can.command && !v.over() && s.Promote == rollout.PromoteManual && s.PromotedAt == nil && s.State == rollout.StateWaiting && missing(s) == 0
}

func (v rolloutView) stagePath(s rollout.StageState, verb string) string {
	return site.RolloutPath(v.ID) + ui.Path("stages", s.Name, verb)
}

// groupPath is the list of all tasks of a stage with a status.
func (v rolloutView) groupPath(stage, status string) string {
	return site.RolloutPath(v.ID) + "/tasks?" + url.Values{"stage": {stage}, "status": {status}}.Encode()
}

// warningTone is how a warning looks.
func warningTone(severity string) ui.Tone {
	if severity == script.Danger {
		return ui.Bad
	}
	return ui.Warn
}

// warningPlace is where a warning is about.
func warningPlace(ctx context.Context, x rollout.PlanWarning) string {
	out := ui.Line(x.Change)
	if x.Line > 0 {
		out += ", " + ui.Say(ctx, "warnings.line", x.Line)
	}
	return out + " · " + ui.Line(x.Code)
}

// aRollout serves one view of a rollout.
func (w *pages) aRollout(tab string, body func(*site.Request, rolloutView) (templ.Component, error)) func(*site.Request) (site.View, error) {
	return func(r *site.Request) (site.View, error) {
		v, err := w.rolloutOf(r)
		if err != nil {
			return site.View{}, err
		}
		v.tab = tab
		inner, err := body(r, v)
		if err != nil {
			return site.View{}, err
		}
		return site.View{Head: ui.Head{Title: ui.Line(v.Name)}, Plain: true, Body: rolloutPage(v, inner), Follow: &timeline.Filter{Job: v.ID}}, nil
	}
}

func (w *pages) rolloutOf(r *site.Request) (rolloutView, error) {
	store, err := w.rolls()
	if err != nil {
		return rolloutView{}, err
	}
	id, err := r.ID("rollout")
	if err != nil {
		return rolloutView{}, err
	}
	v := rolloutView{can: rolloutRightsOf(r), me: r.Subject.Name}
	v.Rollout, err = store.Rollout(r.Context(), id)
	return v, err
}

func runPath(t rollout.Task) string {
	return site.RolloutPath(t.Rollout) + ui.Path("tasks", t.ID.String())
}

// taskLabel is a task in a few words: where, and what.
func taskLabel(t rollout.Task) string {
	return strings.TrimSpace(ui.Line(t.Database) + " · " + changeLabel(t.Version, t.Change))
}

func changeLabel(version, name string) string {
	return strings.TrimSpace(ui.Line(version) + " " + ui.Line(name))
}

func (w *pages) rolloutPlan(r *site.Request, v rolloutView) (templ.Component, error) {
	for i := range v.Changes[:min(len(v.Changes), textsMost)] {
		c := &v.Changes[i]
		full, err := w.Rollouts.Change(r.Context(), v.ID, cmp.Or(c.Version, c.Name))
		if err != nil {
			return nil, err
		}
		c.SQL = full.SQL
	}
	return rolloutPlanTab(v), nil
}

// changeFile is the SQL of a change, whole.
func (w *pages) changeFile(r *site.Request) (contentType string, data []byte, err error) {
	store, err := w.rolls()
	if err != nil {
		return "", nil, err
	}
	id, err := r.ID("rollout")
	if err != nil {
		return "", nil, err
	}
	c, err := store.Change(r.Context(), id, r.PathValue("change"))
	return site.TextType, []byte(c.SQL), err
}

func changePath(id weir.ID, version, name string) string {
	return site.RolloutPath(id) + ui.Path("changes", cmp.Or(version, name))
}
