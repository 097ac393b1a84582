package fleetpages

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"slices"

	"github.com/weirhq/weir/internal/fleet"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/web/ui"
)

// previewDevices is how many devices a preview names that would be taken, and how many
// that would not.
const previewDevices = 50

// fleetPage is the form of a fleet job, with what the job would do once it was asked.
type fleetPage struct {
	*fleetForm
	preview *fleet.Preview
	argv    []string
	// text is the job as a file has it.
	text string
	// other says that the job is not the one that the reader has looked at.
	other   bool
	problem *problem.Problem
}

// newFleet shows an empty form.
func (w *pages) newFleet(r *site.Request) (site.View, error) {
	if _, err := w.fleets(); err != nil {
		return site.View{}, err
	}
	p := fleetPage{fleetForm: newFleetForm()}
	// The page of a device offers a job for it alone.
	p.devices = r.Query("device")
	return p.view(r, 0), nil
}

func (p fleetPage) view(r *site.Request, status int) site.View {
	ctx := r.Context()
	head := ui.Head{Title: ui.Say(ctx, "newfleet.title"), Crumbs: []ui.Crumb{{Label: ui.Say(ctx, "fleet.title"), Href: "/fleet"}, {Label: ui.Say(ctx, "fleetjobs.title"), Href: "/fleet/jobs"}}}
	return site.View{Head: head, Body: fleetPageBody(p), Still: true, Status: status}
}

func (p fleetPage) shown(r *site.Request, status int) site.Done {
	v := p.view(r, status)
	return site.Done{Show: &v}
}

// doNewFleet shows what the job would do, or submits it if that is what the reader has
// looked at.
func (w *pages) doNewFleet(r *site.Request) (site.Done, error) {
	store, err := w.fleets()
	if err != nil {
		return site.Done{}, err
	}
	p := fleetPage{fleetForm: readFleetForm(r)}
	spec := p.spec(r)
	if len(p.faults) > 0 {
		return p.shown(r, http.StatusUnprocessableEntity), nil
	}
	hash, err := hashOf(spec)
	if err != nil {
		return site.Done{}, err
	}
	submit := r.Field("step") == "create"
	if submit && p.seen == hash {
		// A form that is sent twice makes one job: the key tells it from other forms, and
		// the hash from the same form with other words in it.
		in := &fleet.Creating{Keyed: op.Keyed{IdempotencyKey: "form/" + p.key + "/" + hash}, Body: fleet.CreateBody{Spec: spec}}
		j, err := fleet.Create.Call(r.Context(), w.Operations, in)
		if err != nil {
			return p.refused(r, err)
		}
		return site.Done{To: site.FleetJobPath(j.ID), Say: ui.Say(r.Context(), "newfleet.made")}, nil
	}
	preview, err := store.Preview(r.Context(), spec, previewDevices)
	if err != nil {
		return p.refused(r, err)
	}
	text, err := spec.YAML()
	if err != nil {
		return site.Done{}, err
	}
	p.preview, p.argv, p.text, p.seen, p.other = &preview, spec.Run.Argv, string(text), hash, submit
	return p.shown(r, 0), nil
}

// hashOf tells a job from another.
func hashOf(s fleet.Spec) (string, error) {
	text, err := json.Marshal(s)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8]), nil
}

// refused shows the form again with what was wrong, at its field if it has one.
func (p fleetPage) refused(r *site.Request, err error) (site.Done, error) {
	said := ui.Told(r.Context(), err)
	status := said.Kind.Status()
	if said.Kind == problem.Forbidden || said.Kind == problem.NotFound || status >= http.StatusInternalServerError {
		return site.Done{}, err
	}
	if !slices.Contains(fleetFields, said.Field) {
		p.problem = said
		return p.shown(r, status), nil
	}
	what := ui.Line(said.Sentence())
	if next := ui.Line(said.Next); next != "" {
		what += ": " + next
	}
	p.blame(said.Field, what)
	return p.shown(r, status), nil
}

// field is an input of the form, with what is wrong about it.
func (p fleetPage) field(f ui.Field) ui.Field {
	f.Fault = p.faults[f.Name]
	f.Focus = f.Focus && len(p.faults) == 0 && p.preview == nil || f.Fault != ""
	f.Auto = "off"
	return f
}

// fields are several of them.
func (p fleetPage) fields(list ...ui.Field) []ui.Field {
	for i := range list {
		list[i] = p.field(list[i])
	}
	return list
}

func busySaid(ctx context.Context, n int) string {
	if n == 0 {
		return ""
	}
	return ui.Count(ctx, "newfleet.busyones", n)
}
