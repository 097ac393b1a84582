package workspacepages

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/web/ui"
	"github.com/weirhq/weir/internal/workspace"
	"github.com/weirhq/weir/internal/workspace/ladder"
)

// movedTo goes back to where the button was that wanted another phase.
func movedTo(want ladder.Phase) func(*site.Request, workspace.Answer) site.Done {
	return func(r *site.Request, did workspace.Answer) site.Done {
		name := ui.Line(did.Workspace.Name)
		said := ui.Say(r.Context(), "said.workspace."+string(want), name)
		if !did.Changed {
			said = ui.Say(r.Context(), "said.workspace.same", name)
		}
		to := site.WorkspacePath(did.Workspace.ID)
		if r.Query("from") == "list" || want == ladder.Deleted {
			to = "/workspaces"
		}
		return site.Done{To: to, Say: said}
	}
}

// onWorkspace makes an action name what runs, where there is no room for one more.
func onWorkspace(a site.Action) site.Action {
	do := a.Do
	a.Do = func(r *site.Request) (site.Done, error) {
		done, err := do(r)
		return done, limited(r.Context(), err)
	}
	return a
}

// limited names what runs, for those who are over the limit. What it is goes with it, so
// that a page can lead there.
func limited(ctx context.Context, err error) error {
	limit, over := workspace.LimitOf(err)
	if !over {
		return err
	}
	var names []string
	for _, x := range limit.Running {
		names = append(names, ui.Line(x.Name))
	}
	said := *problem.Explain(err)
	said.Pattern = "" // the page says more
	said.What, said.Next = ui.Say(ctx, "workspace.limit."+limit.Type, limit.Current, limit.Max), ui.Say(ctx, "workspace.limit.next", strings.Join(names, ", "))
	return &said
}

func (w *pages) askDeleteWorkspace(r *site.Request) (ui.Question, error) {
	_, x, err := w.workspaceOf(r, auth.Command)
	if err != nil {
		return ui.Question{}, err
	}
	ctx := r.Context()
	return ui.Question{
		Title: ui.Say(ctx, "workspace.ask.delete", ui.Line(x.Name)), Text: ui.Say(ctx, "workspace.text.delete"), Button: ui.Say(ctx, "workspace.delete"), Danger: true,
		Fields: []ui.Field{{Name: "reason", Label: ui.Say(ctx, "ask.reason"), Optional: true, Focus: true, Auto: "off"}}, Back: site.WorkspacePath(x.ID),
	}, nil
}

// recoverFresh is the choice of whatever is left of a home, or an empty one.
const recoverFresh = "fresh"

func (w *pages) askRecoverWorkspace(r *site.Request) (ui.Question, error) {
	store, x, err := w.workspaceOf(r, auth.Command)
	if err != nil {
		return ui.Question{}, err
	}
	ctx := r.Context()
	fields := []ui.Field{{Name: "reason", Label: ui.Say(ctx, "ask.reason"), Optional: true, Focus: true, Auto: "off"}}
	if x.Error == ladder.DataLost || x.Error == ladder.ArchiveCorrupted {
		archives, err := store.Archives(ctx, x.ID)
		if err != nil {
			return ui.Question{}, err
		}
		from := ui.Field{Name: "from", Label: ui.Say(ctx, "workspace.from"), Type: "select", Hint: ui.Say(ctx, "workspace.from.hint"), Options: []ui.Option{{Label: ui.Say(ctx, "workspace.from.same")}}}
		for _, a := range archives {
			if a.VerifiedAt != nil {
				from.Options = append(from.Options, ui.Option{Value: a.Key, Label: ui.Say(ctx, "workspace.from.archive", a.VerifiedAt.UTC().Format("2006-01-02 15:04:05 UTC"))})
			}
		}
		from.Options = append(from.Options, ui.Option{Value: recoverFresh, Label: ui.Say(ctx, "workspace.from.fresh")})
		fields = append(fields, from)
	}
	return ui.Question{
		Title: ui.Say(ctx, "workspace.ask.recover", ui.Line(x.Name)), Text: ui.Say(ctx, "workspace.text.recover", ui.Line(string(x.Error)+": "+x.ErrorSays)), Button: ui.Say(ctx, "workspace.recover"),
		Fields: fields, Back: site.WorkspacePath(x.ID),
	}, nil
}

func (w *pages) recoverWorkspace(r *site.Request) (site.Done, error) {
	in := &workspace.Recovering{Named: workspace.Named{Workspace: r.PathValue("workspace")}, Body: &workspace.RecoverBody{Reason: r.Field("reason")}}
	if from := r.Field("from"); from == recoverFresh {
		in.Body.Fresh = true
	} else {
		in.Body.Archive = from
	}
	did, err := workspace.Recover.Call(r.Context(), w.Operations, in)
	return site.Done{To: site.WorkspacePath(did.Workspace.ID), Say: ui.Say(r.Context(), "said.workspace.recovered", ui.Line(did.Workspace.Name))}, err
}

// openWorkspace leads into a workspace. It is a GET on purpose: the host of a workspace
// sends a browser here that it does not know.
func (w *pages) openWorkspace(r *site.Request) (site.View, error) {
	host, x, err := w.workspaceOf(r, auth.Command)
	if err != nil {
		return site.View{}, err
	}
	to, err := host.Open(r.Context(), r.Subject, x.ID, site.Local(r.Query("next")))
	if err != nil {
		return site.View{}, err
	}
	return site.View{}, site.SeeOther(to)
}

func (w *pages) askNewWorkspace(r *site.Request) (ui.Question, error) {
	host, err := w.workspaces()
	if err != nil {
		return ui.Question{}, err
	}
	ctx := r.Context()
	if _, err := workspace.ProviderOf("", host.Offered); err != nil {
		return ui.Question{}, err
	}
	names := host.Usable(r.Subject)
	if len(names) == 0 {
		return ui.Question{}, problem.New(problem.Conflict, "ask for docker in workspace_providers, or for the role admin", "what runs here runs as the server itself, and that takes an admin")
	}
	var providers []ui.Option
	for _, name := range names {
		providers = append(providers, ui.Option{Value: name, Label: ui.Code(ctx, "provider.", name)})
	}
	fields := []ui.Field{
		{Name: "name", Label: ui.Say(ctx, "workspace.name"), Hint: ui.Say(ctx, "workspace.name.hint"), Example: "notes", Focus: true, Auto: "off"},
		{Name: "description", Label: ui.Say(ctx, "workspace.description"), Optional: true, Auto: "off"},
		{Name: "provider", Label: ui.Say(ctx, "workspace.provider"), Type: "select", Value: names[0], Options: providers},
	}
	if slices.ContainsFunc(names, func(name string) bool { return name != workspace.OnThisMachine }) {
		fields = append(fields, ui.Field{Name: "image", Label: ui.Say(ctx, "workspace.image"), Optional: true, Hint: ui.Say(ctx, "workspace.image.hint"), Example: "registry.example.org/dev/go:1.26", Auto: "off"})
	}
	fields = append(fields, ttlFields(ctx, "", "")...)
	return ui.Question{Title: ui.Say(ctx, "workspace.new"), Text: ui.Say(ctx, "workspace.new.text"), Button: ui.Say(ctx, "workspace.create"), Fields: fields, Back: "/workspaces"}, nil
}

func ttlFields(ctx context.Context, standby, archive string) []ui.Field {
	return []ui.Field{
		{Name: "standby_ttl", Label: ui.Say(ctx, "workspace.standby"), Value: standby, Optional: true, Example: "10m", Hint: ui.Say(ctx, "workspace.standby.hint"), Auto: "off"},
		{Name: "archive_ttl", Label: ui.Say(ctx, "workspace.archiveafter"), Value: archive, Optional: true, Example: "30m", Hint: ui.Say(ctx, "workspace.archiveafter.hint"), Auto: "off"},
	}
}

func createdWorkspace(r *site.Request, made workspace.Made) site.Done {
	return site.Done{To: site.WorkspacePath(made.ID), Say: ui.Say(r.Context(), "said.workspace.created", ui.Line(made.Name))}
}

// ownTTL is a time that a workspace has of its own; empty: the policy's, which stays so
// when something else is changed.
func ownTTL(its, policy node.Span) string {
	if its == policy {
		return ""
	}
	return site.SpanText(time.Duration(its))
}

func (w *pages) askChangeWorkspace(r *site.Request) (ui.Question, error) {
	store, x, err := w.workspaceOf(r, auth.Command)
	if err != nil {
		return ui.Question{}, err
	}
	ctx := r.Context()
	policy, err := store.Policy(ctx)
	if err != nil {
		return ui.Question{}, err
	}
	fields := []ui.Field{
		{Name: "name", Label: ui.Say(ctx, "workspace.name"), Value: x.Name, Hint: ui.Say(ctx, "workspace.name.hint"), Focus: true, Auto: "off"},
		{Name: "description", Label: ui.Say(ctx, "workspace.description"), Value: x.Description, Optional: true, Auto: "off"},
	}
	if x.Provider != workspace.OnThisMachine {
		fields = append(fields, ui.Field{Name: "image", Label: ui.Say(ctx, "workspace.image"), Value: x.Image, Optional: true, Hint: ui.Say(ctx, "workspace.image.hint"), Auto: "off"})
	}
	fields = append(fields, ttlFields(ctx, ownTTL(x.StandbyTTL, policy.StandbyTTL), ownTTL(x.ArchiveTTL, policy.ArchiveTTL))...)
	return ui.Question{Title: ui.Say(ctx, "workspace.ask.change", ui.Line(x.Name)), Button: ui.Say(ctx, "policy.save"), Fields: fields, Back: site.WorkspacePath(x.ID)}, nil
}

func changedWorkspace(r *site.Request, x workspace.View) site.Done {
	return site.Done{To: site.WorkspacePath(x.ID), Say: ui.Say(r.Context(), "said.workspace.changed", ui.Line(x.Name))}
}
