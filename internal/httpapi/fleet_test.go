package httpapi

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/fleet"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/op"
)

// lab reports a PC with devices, as its agent does.
func (r *rig) lab(pc string, serials ...string) {
	r.t.Helper()
	r.exec(`select weir.fleet_report('` + pc + `', '[{"serial": "` + strings.Join(serials, `", "labels": {"model": "a=b", "tag": "kiosk"}}, {"serial": "`) + `"}]', 2)`)
}

func spec(name string) map[string]any {
	return map[string]any{"name": name, "run": map[string]any{"argv": []string{"true"}}, "target": map[string]any{"all": true}, "timeout": "90s", "linger": "0s"}
}

// A fleet job over HTTP: submitted twice it is one, its units come page by page, and it
// explains what it waits for.
func TestFleetOverHTTP(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.lab("PC-01", "A1", "B2", "C3")
	r.user("boss", auth.Maintainer)
	boss := r.login("boss")
	var preview fleet.Preview
	boss.want(http.StatusOK, "POST", "/fleet/preview?limit=2", spec("nightly")).into(&preview)
	if preview.Runs != 3 || preview.Ready != 3 || preview.Out != 0 || len(preview.Takes) != 2 || preview.Takes[0].Device != "A1" || preview.Ahead != 0 {
		t.Errorf("the preview is %+v", preview)
	}
	var first, again, waits fleet.Job
	made := boss.want(http.StatusCreated, "POST", "/fleet/jobs", spec("nightly"), "Idempotency-Key", "once")
	made.into(&first)
	boss.want(http.StatusOK, "POST", "/fleet/jobs", spec("nightly"), "Idempotency-Key", "once").into(&again)
	at := "/fleet/jobs/" + first.ID.String()
	if first.ID != again.ID || made.header.Get("Location") != prefix+at || first.State != "active" || first.Counts.Total != 3 || first.By != "boss" {
		t.Fatalf("made %+v, then %+v at %s", first, again, made.header.Get("Location"))
	}
	if s := first.Spec; s == nil || s.Timeout != node.Span(90e9) || s.Linger == nil || *s.Linger != 0 || !s.Target.All || s.Name != "nightly" {
		t.Errorf("its spec is %+v", first.Spec)
	}
	boss.want(http.StatusCreated, "POST", "/fleet/jobs", spec("later")).into(&waits)
	var jobs op.Page[fleet.Job]
	boss.want(http.StatusOK, "GET", "/fleet/jobs?limit=1", nil).into(&jobs)
	if len(jobs.Items) != 1 || jobs.Items[0].ID != waits.ID || jobs.Next == "" || jobs.Items[0].State != "waiting" {
		t.Errorf("listed %+v", jobs)
	}
	boss.want(http.StatusOK, "GET", "/fleet/jobs?state=active&search=night&after="+jobs.Next, nil).into(&jobs)
	if len(jobs.Items) != 1 || jobs.Items[0].ID != first.ID || jobs.Items[0].Spec != nil {
		t.Errorf("then %+v", jobs)
	}
	var units op.Page[fleet.Unit]
	boss.want(http.StatusOK, "GET", at+"/units?limit=2&pc=PC-01&state=waiting", nil).into(&units)
	next := units.Next
	boss.want(http.StatusOK, "GET", at+"/units?limit=2&after="+next, nil).into(&units)
	if next == "" || len(units.Items) != 1 || units.Items[0].Device != "C3" {
		t.Errorf("units after %q: %+v", next, units)
	}
	var why fleet.Why
	boss.want(http.StatusOK, "GET", at+"/why", nil).into(&why)
	if !strings.Contains(why.Summary, "3 waiting") || len(why.Devices) != 3 || !strings.Contains(why.Devices[0].Why, "PC-01") {
		t.Errorf("why: %+v", why)
	}
	var done fleet.Canceled
	boss.want(http.StatusOK, "POST", at+"/cancel", map[string]string{"reason": "broken"}).into(&done)
	boss.want(http.StatusOK, "GET", at, nil).into(&first)
	if done.Canceled != 3 || first.State != "canceled" {
		t.Errorf("cancel: %+v, it is %s", done, first.State)
	}
	boss.want(http.StatusOK, "GET", "/fleet/jobs/"+waits.ID.String(), nil).into(&waits)
	if waits.State != "active" {
		t.Errorf("the next one is %s", waits.State)
	}
	boss.want(http.StatusNotFound, "GET", "/fleet/jobs/01890a5d-ac96-774b-bcce-b302099a8057/units", nil)
}

// A refusal names the field. An operator cannot bring a program to the PCs, and a token
// for fleets alone cannot give secrets to one.
func TestFleetRefusals(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.user("otto", auth.Operator)
	r.user("mia", auth.Maintainer)
	otto, mia := r.login("otto"), r.login("mia")
	for field, change := range map[string]map[string]any{
		"run":             {"run": map[string]any{}},
		"target":          {"target": map[string]any{}},
		"body.timeout":    {"timeout": "soon"},
		"body.join":       {"join": "maybe"},
		"infra.exit":      {"infra": map[string]any{"exit": []int{0}}},
		"body.attempts":   {"attempts": 101},
		"idempotency_key": {"idempotency_key": "other"},
	} {
		body := spec("bad")
		for k, v := range change {
			body[k] = v
		}
		got := mia.want(http.StatusUnprocessableEntity, "POST", "/fleet/jobs", body, "Idempotency-Key", "k")
		if said := got.refusal(); said.Field != field && said.Field != strings.TrimPrefix(field, "body.") {
			t.Errorf("%s: %+v", field, said)
		}
	}
	body := spec("leak")
	body["run"] = map[string]any{"argv": []string{"env"}, "secrets": map[string]string{"X": "name"}}
	program := r.token("mia", "fleet:submit")
	program.want(http.StatusForbidden, "POST", "/fleet/jobs", body)
	program.want(http.StatusCreated, "POST", "/fleet/jobs", spec("plain"))
	var leak fleet.Job
	mia.want(http.StatusCreated, "POST", "/fleet/jobs", body, "Idempotency-Key", "leak").into(&leak)
	mia.want(http.StatusOK, "POST", "/fleet/jobs", body, "Idempotency-Key", "leak")
	again := "/fleet/jobs/" + leak.ID.String() + "/rerun"
	otto.want(http.StatusForbidden, "POST", again, map[string]string{"which": "all"})
	program.want(http.StatusForbidden, "POST", again, map[string]string{"which": "all"})
	mia.want(http.StatusCreated, "POST", again, map[string]string{"which": "all"})
	mia.want(http.StatusUnprocessableEntity, "POST", again, map[string]string{"which": "half"})
	otto.want(http.StatusForbidden, "POST", "/fleet/jobs", spec("own"))
	otto.want(http.StatusForbidden, "POST", "/fleet/preview", spec("own"))
	none := spec("none")
	none["target"] = map[string]any{"devices": []string{"nowhere"}}
	if said := mia.want(http.StatusUnprocessableEntity, "POST", "/fleet/preview", none).refusal(); !strings.Contains(said.Detail, "nowhere") {
		t.Errorf("%+v", said)
	}
	nightly := map[string]any{"spec": "@daily", "overlap": "skip", "task": map[string]any{"service": "fleet", "params": spec("nightly")}}
	mia.want(http.StatusCreated, "PUT", "/schedules/nightly", nightly)
	nightly["task"] = map[string]any{"service": "fleet", "params": map[string]any{"run": map[string]any{"argv": []string{"x"}}, "target": map[string]any{"al": true}}}
	if said := mia.want(http.StatusUnprocessableEntity, "PUT", "/schedules/wrong", nightly).refusal(); said.Field != "task.params.target.al" {
		t.Errorf("%+v", said)
	}
	nightly["task"] = map[string]any{"service": "mail"}
	mia.want(http.StatusUnprocessableEntity, "PUT", "/schedules/wrong", nightly)
	otto.want(http.StatusForbidden, "PUT", "/fleet/policy", map[string]any{"overlap": true})
	otto.want(http.StatusForbidden, "PUT", "/pcs/PC-01/slots", map[string]any{"slots": 1})
}

// Devices are listed by their properties, and commanded with a reason that is kept.
func TestDevicesOverHTTP(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.lab("PC-01", "A1", "B2", "C3")
	r.lab("PC-02", "D4")
	r.user("otto", auth.Operator)
	otto := r.login("otto")
	serials := func(query string) string {
		var page op.Page[fleet.Device]
		otto.want(http.StatusOK, "GET", "/devices?"+query, nil).into(&page)
		var out []string
		for _, d := range page.Items {
			out = append(out, d.Serial)
		}
		return strings.Join(out, " ") + page.Next
	}
	var did fleet.DeviceChanged
	otto.want(http.StatusUnprocessableEntity, "POST", "/devices/A1/maintain", nil)
	otto.want(http.StatusOK, "POST", "/devices/A1/maintain", map[string]string{"reason": "new battery"}).into(&did)
	if !did.Changed || did.Device.Health != "maintenance" || !strings.HasSuffix(did.Device.HealthNote, "new battery") || did.Device.HealthBy != "otto" || did.Device.Eligible {
		t.Errorf("maintain: %+v", did)
	}
	soon := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	otto.want(http.StatusUnprocessableEntity, "POST", "/devices/D4/reserve", map[string]string{"reason": "mine"})
	otto.want(http.StatusOK, "POST", "/devices/D4/reserve", map[string]string{"until": soon, "reason": "a crash"}).into(&did)
	if d := did.Device; !did.Changed || d.ReservedBy != "otto" || d.Eligible || d.Reason.Code != "device_reserved" {
		t.Errorf("reserve: %+v", did)
	}
	otto.want(http.StatusOK, "POST", "/devices/D4/reserve", map[string]string{"until": soon, "reason": "a crash"}).into(&did)
	if did.Changed {
		t.Error("the same reservation again changed something")
	}
	otto.want(http.StatusOK, "POST", "/devices/D4/release", nil)
	otto.want(http.StatusOK, "POST", "/devices/B2/quarantine", map[string]string{"reason": "screen"})
	otto.want(http.StatusOK, "POST", "/devices/C3/retire", map[string]string{"reason": "sold"})
	otto.want(http.StatusConflict, "POST", "/devices/C3/maintain", map[string]string{"reason": "oops"})
	for query, want := range map[string]string{
		"pc=PC-02": "D4", "health=quarantined": "B2", "limit=1": "A1A1", "limit=1&after=A1": "B2B2", "search=d": "D4", "online=false": "",
		"label=model%3Da%3Db&label=tag%3Dkiosk": "A1 B2", "label=tag%3Dx": "",
	} {
		if got := serials(query); got != want {
			t.Errorf("%s: %q, wanted %q", query, got, want)
		}
	}
	otto.want(http.StatusUnprocessableEntity, "GET", "/devices?label=x%3E", nil)
	otto.want(http.StatusNotFound, "GET", "/fleet/jobs/none/results", nil)
	otto.want(http.StatusNotFound, "GET", "/fleet/jobs/none/cases", nil)
	otto.want(http.StatusOK, "POST", "/devices/A1/release", map[string]string{"reason": "done"}).into(&did)
	if !did.Changed || did.Device.Health != "good" {
		t.Errorf("release: %+v", did)
	}
	var log op.Page[fleet.DeviceEvent]
	otto.want(http.StatusOK, "GET", "/devices/A1/log?limit=2", nil).into(&log)
	if len(log.Items) != 2 || log.Items[0].Type != "good" || log.Items[0].Was != "maintenance" || !strings.HasSuffix(log.Items[1].Note, "new battery") {
		t.Errorf("the log: %+v", log)
	}
	otto.want(http.StatusNotFound, "GET", "/devices/ghost/units", nil)
}

// PCs, their slots and the policy.
func TestPCsOverHTTP(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.lab("PC-01", "A1")
	r.lab("PC-02", "B2", "C3")
	r.user("boss", auth.Maintainer)
	boss := r.login("boss")
	boss.want(http.StatusCreated, "POST", "/fleet/jobs", spec("nightly"))
	r.exec(`select weir.register_worker('w', '{fleet}', node => 'PC-02')`)
	r.exec(`select weir.fleet_claim('w', 'PC-02', 1)`)
	var pcs op.Page[fleet.PC]
	boss.want(http.StatusOK, "GET", "/pcs?limit=1&after=PC-01", nil).into(&pcs)
	if len(pcs.Items) != 1 || pcs.Items[0].Name != "PC-02" || pcs.Items[0].Running != 1 || pcs.Items[0].Target != 2 {
		t.Errorf("PCs: %+v", pcs)
	}
	var slots op.Page[fleet.Slot]
	boss.want(http.StatusOK, "GET", "/pcs/PC-02/slots", nil).into(&slots)
	if len(slots.Items) != 1 || slots.Items[0].JobName != "nightly" {
		t.Errorf("slots: %+v", slots)
	}
	boss.want(http.StatusOK, "GET", "/fleet/slots", nil).into(&slots)
	if len(slots.Items) != 1 || slots.Items[0].PC != "PC-02" {
		t.Errorf("all slots: %+v", slots)
	}
	var did fleet.PCChanged
	boss.want(http.StatusOK, "PUT", "/pcs/PC-02/slots", map[string]any{"slots": 1}).into(&did)
	if !did.Changed || did.PC.Slots != 1 {
		t.Errorf("set slots: %+v", did)
	}
	did = fleet.PCChanged{}
	boss.want(http.StatusOK, "PUT", "/pcs/PC-02/slots", map[string]any{}).into(&did)
	if !did.Changed || did.PC.Slots != 2 || did.PC.SetSlots != nil {
		t.Errorf("slots as reported: %+v", did)
	}
	boss.want(http.StatusNotFound, "GET", "/pcs/ghost/slots", nil)
	var p fleet.Policy
	boss.want(http.StatusOK, "PUT", "/fleet/policy", map[string]any{"policy": "evidence", "health": map[string]any{"run": map[string]any{"argv": []string{"true"}}, "timeout": "2m"}}).into(&p)
	if p.Policy != "evidence" || p.Health == nil || p.Health.Timeout != node.Span(120e9) || p.Slots != 20 || p.Overlap {
		t.Errorf("policy: %+v", p)
	}
	boss.want(http.StatusUnprocessableEntity, "PUT", "/fleet/policy", map[string]any{"health": map[string]any{"run": map[string]any{"argw": "x"}}})
	boss.want(http.StatusOK, "PUT", "/fleet/policy", map[string]any{"health": nil, "overlap": true, "slots": 5})
	p = fleet.Policy{}
	boss.want(http.StatusOK, "GET", "/fleet/policy", nil).into(&p)
	if p.Policy != "evidence" || p.Health != nil || p.Slots != 5 || !p.Overlap {
		t.Errorf("then: %+v", p)
	}
}
