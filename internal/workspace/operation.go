package workspace

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/workspace/ladder"
)

// View is a workspace with what happens to it next.
type View struct {
	Workspace
	Next   *Next `json:"next,omitempty" doc:"What happens to it by itself, and when, if nobody does anything."`
	Unseen bool  `json:"unseen,omitempty" doc:"What is there cannot be seen at the moment: nothing is done with it."`
}

// Made is a workspace that was asked for.
type Made struct {
	View
	Existed bool `json:"existed,omitempty" doc:"A workspace with this idempotency key was there already: nothing new was made."`
}

// Place implements [op.Made].
func (m Made) Place() []string { return []string{"workspaces", m.ID.String()} }

// Found implements [op.Made].
func (m Made) Found() bool { return m.Existed }

// Answer says whether a command changed something, and how things stand.
type Answer struct {
	Changed   bool `json:"changed" doc:"false: it was so already."`
	Workspace View `json:"workspace"`
}

// Listing narrows the list of workspaces.
type Listing struct {
	op.Paged
	All      bool   `query:"all" flag:"all,a" doc:"For an admin: everybody's. Else one's own."`
	Owner    string `query:"owner" maxLength:"200" doc:"For an admin: those of this user."`
	Phase    string `query:"phase" enum:"PENDING,ARCHIVED,STANDBY,RUNNING,ERROR,DELETING,DELETED" doc:"Only workspaces in this phase."`
	Provider string `query:"provider" enum:"process,docker" doc:"Only workspaces that run so."`
	Search   string `query:"search" maxLength:"200" doc:"Only workspaces with this in their name."`
	Deleted  bool   `query:"deleted" doc:"Deleted ones, too."`
}

// Creating makes a workspace.
type Creating struct {
	op.Keyed
	Body CreateBody
}

// CreateBody is a workspace to be made.
type CreateBody struct {
	Name           string  `json:"name" flag:"NAME" maxLength:"40" doc:"Small letters, digits and dashes; one's own, once."`
	Description    string  `json:"description,omitempty" maxLength:"1000" doc:"What it is for."`
	Image          string  `json:"image,omitempty" maxLength:"500" doc:"On docker: what runs. Left out: the server's usual one."`
	Provider       string  `json:"provider,omitempty" maxLength:"40" doc:"process or docker. Left out: the server's usual one, or the first that is open to who asks. process takes an admin: it runs as the server itself."`
	Desired        string  `json:"desired,omitempty" enum:"ARCHIVED,STANDBY,RUNNING" doc:"Where it goes first. Default: RUNNING."`
	StandbyTTL     op.Wait `json:"standby_ttl,omitzero" doc:"After how long without use it is stopped. Left out: as the policy says."`
	ArchiveTTL     op.Wait `json:"archive_ttl,omitzero" doc:"After how long in standby it is archived. Left out: as the policy says."`
	Owner          string  `json:"owner,omitempty" maxLength:"200" doc:"For an admin: the user whose it is. Left out: who asks."`
	IdempotencyKey string  `json:"idempotency_key,omitempty" flag:"key" maxLength:"200" doc:"The same key gives the same workspace."`
}

// Named names a workspace.
type Named struct {
	Workspace string `path:"workspace" flag:"NAME" maxLength:"100" doc:"The id, the name of one's own, or owner/name."`
}

// Decision is a command on a workspace that may have a reason.
type Decision struct {
	Named
	Body *op.DecisionBody
}

// Deleting names a workspace, and why it goes.
type Deleting struct {
	Named
	Reason string `query:"reason" maxLength:"1000" doc:"For people; goes to the timeline."`
}

// Changing changes what a workspace is called, what runs and how long it lasts.
type Changing struct {
	Named
	Body Change
}

// RecoverBody says why, and what becomes of the home.
type RecoverBody struct {
	Reason  string `json:"reason,omitempty" maxLength:"1000" doc:"For people; goes to the timeline."`
	Fresh   bool   `json:"fresh,omitempty" doc:"The home is lost: begin with its last archive that is there, or with an empty one."`
	Archive string `json:"archive,omitempty" maxLength:"500" doc:"Bring the home back from this archive, whatever came after it: a key of the list of archives."`
}

// Recovering clears an error.
type Recovering struct {
	Named
	Body *RecoverBody
}

// Opened is where a workspace is.
type Opened struct {
	URL string `json:"url" doc:"It opens the workspace for who asked, once and within 30 seconds."`
}

// ListingLog bounds the log of a workspace.
type ListingLog struct {
	Named
	op.Paged
}

// Printing bounds what a container printed.
type Printing struct {
	Named
	Lines int `query:"lines" minimum:"1" maximum:"10000" default:"200" doc:"How many at most."`
}

// Printed is what a container printed.
type Printed struct {
	Text string `json:"text"`
}

// SettingPolicy changes what holds for all workspaces.
type SettingPolicy struct {
	Body PolicyChange
}

// Importing takes over rows of an earlier installation.
type Importing struct {
	Body ImportBody
}

// ImportBody has the rows.
type ImportBody struct {
	Rows     []json.RawMessage `json:"rows" maxItems:"10000" doc:"Rows of the earlier table, each as JSON."`
	Owner    string            `json:"owner,omitempty" maxLength:"200" doc:"Whose those become that belonged to nobody known here. Left out: they are refused."`
	Provider string            `json:"provider,omitempty" maxLength:"40" doc:"How they run. Left out: as their rows say."`
}

// Operations on workspaces. A workspace is its owner's: each asks for the right on the one
// that is meant, and what makes one live for that to do so.
var (
	List = op.List(own(http.MethodGet, "list", "", auth.Read, "List workspaces, newest first: one's own, or for an admin everybody's"),
		list, func(v View) string { return v.ID.String() })
	Create = op.New(own(http.MethodPost, "create", "", auth.Submit, "Create a workspace, and bring it to where it is wanted"), create)
	Show   = on(http.MethodGet, "show", "", auth.Read, "Show a workspace: its phase, what is wanted, what is under way and what happens next",
		func(ctx context.Context, h *Host, _ auth.Subject, w Workspace, _ *Named) (View, error) {
			return h.view(ctx, w.ID)
		})
	Set    = on(http.MethodPatch, "set", "", auth.Command, "Change the name, the description or the times of a workspace", change)
	Delete = on(http.MethodDelete, "delete", "", auth.Command, "Delete a workspace with its home; archives are collected later",
		func(ctx context.Context, h *Host, who auth.Subject, w Workspace, in *Deleting) (Answer, error) {
			return h.move(ctx, who, w, ladder.Deleted, in.Reason)
		})
	Start   = moves("start", ladder.Running, "Start a workspace: from standby, or out of its archive")
	Stop    = moves("stop", ladder.Standby, "Stop a workspace; its home stays")
	PutAway = moves("archive", ladder.Archived, "Stop a workspace and put its home into the bucket")
	Recover = on(http.MethodPost, "recover", "/recover", auth.Command, "Clear the error of a workspace and try again", recovers)
	Open    = on(http.MethodPost, "open", "/open", auth.Command, "Make an address that opens a workspace in a browser, once",
		func(ctx context.Context, h *Host, who auth.Subject, w Workspace, _ *Named) (Opened, error) {
			link, err := h.Open(ctx, who, w.ID, "")
			return Opened{link}, err
		})
	Explain = on(http.MethodGet, "why", "/why", auth.Read, "Say why a workspace is where it is, and what happens next",
		func(ctx context.Context, h *Host, _ auth.Subject, w Workspace, _ *Named) (Why, error) {
			return h.Why(ctx, w.ID)
		})
	ListLog = op.List(own(http.MethodGet, "log", "/{workspace}/log", auth.Read, "List what became of a workspace, newest first"),
		func(ctx context.Context, h *Host, who auth.Subject, in *ListingLog) ([]Entry, error) {
			w, err := h.Reach(ctx, who, auth.Read, in.Workspace)
			if err != nil {
				return nil, err
			}
			return h.Log(ctx, w.ID, in.Page())
		},
		func(e Entry) string { return strconv.FormatInt(e.Seq, 10) })
	Print = on(http.MethodGet, "logs", "/logs", auth.Read, "Read what the container of a workspace printed last",
		func(ctx context.Context, h *Host, _ auth.Subject, w Workspace, in *Printing) (Printed, error) {
			var text bytes.Buffer
			err := h.Logs(ctx, w, cmp.Or(in.Lines, 200), &text)
			return Printed{text.String()}, err
		})
	ListArchives = on(http.MethodGet, "archives", "/archives", auth.Read, "List the archives of a workspace's home, newest first",
		func(ctx context.Context, h *Host, _ auth.Subject, w Workspace, _ *Named) (op.Page[Archive], error) {
			archives, err := h.Archives(ctx, w.ID)
			return op.PageOf(archives, ""), err
		})

	ShowPolicy = op.New(op.Operation{
		Noun: "workspace", Verb: "policy", Method: http.MethodGet, Path: "/workspace-policy", Right: auth.Read, Own: true,
		Summary: "Show what holds for all workspaces",
	}, func(ctx context.Context, h *Host, _ auth.Subject, _ *struct{}) (Policy, error) { return h.Policy(ctx) })
	SetPolicy = op.New(op.Operation{
		Noun: "workspace", Verb: "policy", Method: http.MethodPut, Path: "/workspace-policy", Right: auth.Manage,
		Summary: "Change it: how many may run, and how long they last",
	}, func(ctx context.Context, h *Host, who auth.Subject, in *SettingPolicy) (Policy, error) {
		return h.SetPolicy(ctx, who.By(), in.Body)
	})
	Import = op.New(op.Operation{
		Noun: "workspace", Verb: "import", Method: http.MethodPost, Path: "/workspace-import", Right: auth.Manage, Large: true,
		Summary: "Take over the workspaces of an earlier installation",
	}, imports)
)

// own describes an operation on workspaces of one's own.
func own(method, verb, below string, right auth.Verb, summary string) op.Operation {
	return op.Operation{Noun: "workspace", Verb: verb, Method: method, Path: "/workspaces" + below, Right: right, Own: true, Summary: summary}
}

// acts is what an operation does with a workspace that was found.
type acts[In, Out any] = func(ctx context.Context, h *Host, who auth.Subject, w Workspace, in *In) (Out, error)

// on describes an operation on a workspace that who asks may reach.
func on[In, Out any](method, verb, below string, right auth.Verb, summary string, do acts[In, Out]) *op.Op[*Host, In, Out] {
	o := own(method, verb, "/{workspace}"+below, right, summary)
	return op.New(o, func(ctx context.Context, h *Host, who auth.Subject, in *In) (out Out, err error) {
		w, err := h.Reach(ctx, who, right, any(in).(interface{ called() string }).called())
		if err != nil {
			return out, err
		}
		return do(ctx, h, who, w, in)
	})
}

func (n Named) called() string { return n.Workspace }

// moves describes a command that wants another phase.
func moves(verb string, want ladder.Phase, summary string) *op.Op[*Host, Decision, Answer] {
	return on(http.MethodPost, verb, "/"+verb, auth.Command, summary,
		func(ctx context.Context, h *Host, who auth.Subject, w Workspace, in *Decision) (Answer, error) {
			return h.move(ctx, who, w, want, op.Given(in.Body).Reason)
		})
}

func (h *Host) move(ctx context.Context, who auth.Subject, w Workspace, want ladder.Phase, reason string) (a Answer, err error) {
	if want == ladder.Running {
		if err := MayLive(who, w.Provider); err != nil {
			return a, err
		}
	}
	if a.Changed, err = h.Want(ctx, w.ID, want, who.By(), reason); err != nil {
		return a, err
	}
	a.Workspace, err = h.view(ctx, w.ID)
	return a, err
}

// views are workspaces with what happens to them next.
func (h *Host) views(ctx context.Context, all ...Workspace) ([]View, error) {
	policy, err := h.Policy(ctx)
	views := make([]View, len(all))
	for i, w := range all {
		unseen := policy.Unseen(w.Provider)
		views[i] = View{w, w.Next(time.Now(), unseen), unseen}
	}
	return views, err
}

// view is one of them as it is now.
func (h *Host) view(ctx context.Context, id weir.ID) (View, error) {
	w, err := h.Workspace(ctx, id)
	if err != nil {
		return View{}, err
	}
	views, err := h.views(ctx, w)
	return views[0], err
}

func list(ctx context.Context, h *Host, who auth.Subject, in *Listing) (_ []View, err error) {
	f := Filter{Phase: ladder.Phase(in.Phase), Provider: in.Provider, Search: in.Search, Deleted: in.Deleted}
	// On the database nobody has workspaces of their own.
	if in.Owner == "" && (in.All || who.Kind == auth.KindSystem) {
		err = auth.Allow(who, auth.Read, auth.Object{Kind: "workspace"})
	} else {
		f.Owner, err = h.owner(ctx, who, auth.Read, in.Owner)
	}
	if err != nil {
		return nil, err
	}
	all, err := h.List(ctx, f, in.Page())
	if err != nil {
		return nil, err
	}
	return h.views(ctx, all...)
}

func create(ctx context.Context, h *Host, who auth.Subject, in *Creating) (m Made, err error) {
	b := &in.Body
	d := Draft{
		Name: b.Name, Description: b.Description, Image: b.Image, Desired: ladder.Phase(b.Desired),
		StandbyTTL: node.Span(b.StandbyTTL), ArchiveTTL: node.Span(b.ArchiveTTL),
	}
	if d.Key, err = in.Said(b.IdempotencyKey); err != nil { // a key of the owner
		return m, err
	}
	if d.Owner, err = h.owner(ctx, who, auth.Submit, b.Owner); err != nil {
		return m, err
	}
	if err = shortest(&b.StandbyTTL, &b.ArchiveTTL); err != nil {
		return m, err
	}
	if d.Provider, err = h.provide(who, b.Provider); err != nil {
		return m, err
	}
	if err = h.mayRun(ctx, d.Provider, d.Image); err != nil {
		return m, err
	}
	id, existed, err := h.Create(ctx, who.By(), d)
	if err != nil {
		return m, err
	}
	m.Existed = existed
	m.View, err = h.view(ctx, id)
	return m, err
}

// shortest refuses times that are too short; zero is that of the policy, nil is not named.
func shortest(standby, archive *op.Wait) error {
	for _, given := range []struct {
		field string
		*op.Wait
	}{{"standby_ttl", standby}, {"archive_ttl", archive}} {
		if d := time.Duration(op.Given(given.Wait)); d != 0 && d < 10*time.Second {
			return problem.Refuse(given.field, "give 10s or more, or 0s for that of the policy", "%s is too short", d)
		}
	}
	return nil
}

func change(ctx context.Context, h *Host, who auth.Subject, w Workspace, in *Changing) (View, error) {
	err := shortest(in.Body.StandbyTTL, in.Body.ArchiveTTL)
	if image := op.Given(in.Body.Image); err == nil && image != w.Image {
		err = h.mayRun(ctx, w.Provider, image)
	}
	if err == nil {
		_, err = h.Patch(ctx, w.ID, who.By(), in.Body)
	}
	if err != nil {
		return View{}, err
	}
	return h.view(ctx, w.ID)
}

// recovers clears an error. One that is to run starts again, which is asked for as a start is.
func recovers(ctx context.Context, h *Host, who auth.Subject, w Workspace, in *Recovering) (a Answer, err error) {
	b := op.Given(in.Body)
	if w.Desired == ladder.Running {
		if err := MayLive(who, w.Provider); err != nil {
			return a, err
		}
	}
	switch {
	case b.Fresh && b.Archive != "":
		err = problem.Refuse("archive", "leave one of them out", "fresh and archive: it is not clear what the home shall be")
	case b.Archive != "":
		a.Changed, err = h.RecoverFrom(ctx, w.ID, who.By(), b.Reason, b.Archive)
	default:
		a.Changed, err = h.Recover(ctx, w.ID, who.By(), b.Reason, b.Fresh)
	}
	if err != nil {
		return a, err
	}
	a.Workspace, err = h.view(ctx, w.ID)
	return a, err
}

func imports(ctx context.Context, h *Host, who auth.Subject, in *Importing) (done op.Page[Imported], err error) {
	var owner weir.ID
	if in.Body.Owner != "" {
		if owner, err = h.owner(ctx, who, auth.Manage, in.Body.Owner); err != nil {
			return done, err
		}
	}
	err = h.at(ctx, func(at *Host) error {
		if at.Bucket == nil {
			return problem.New(problem.Conflict, "set bucket to where the archives are", "there is no bucket, so there are no archives to take over")
		}
		rows, err := Importer{Store: h.Store, Bucket: at.Bucket, Provider: in.Body.Provider, Owner: owner}.Import(ctx, who.By(), in.Body.Rows)
		done = op.PageOf(rows, "")
		return err
	})
	return done, err
}
