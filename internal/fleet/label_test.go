package fleet

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/problem"
)

// Go and SQL agree on what a condition is; SQL alone says whether it holds.
func TestConditions(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	labels := `{"android": "13", "model": "alpha-5", "build": "1.10.0-rc2", "battery": "-5", "tag": "x y"}`
	for c, want := range map[string]bool{
		"android>=13": true, "android > 13": false, "android>9": true, "android<=13.0": true, "android<9": false, "android=13.0": true,
		"android!=13": false, "android!=14": true, "build>1.9": true, "build<1.10.1": true, "build>=1.10.0-rc1": true,
		"battery<0": true, "battery>-10": true, "model=alpha-5": true, "model>alpha": true, "tag=x y": true,
		"model in (alpha-4, alpha-5)": true, "model in (alpha)": false, "model not in (alpha-4)": true, "not model in (alpha-5)": false,
		"android": true, "not android": false, "hub": false, "not hub": true, "hub=1": false, "hub!=1": true, "hub<99": false,
		"hub not in (a)": true, "not hub>=1": true, "not android!=13": true, "not model not in (alpha-5)": true,
	} {
		var got bool
		r.scan(&got, `select weir._label_holds($1, $2)`, c, labels)
		if got != want {
			t.Errorf("%s: %v", c, got)
		}
		if err := (Target{Match: []string{c}}).check(); err != nil {
			t.Errorf("%s: %v", c, err)
		}
	}
	for _, c := range []string{"", " ", "android>=", ">=13", "a b", "model=a os>=15", "model in", "model in ()", "a in (b", "not", strings.Repeat("x", 101), "a=" + strings.Repeat("x", 500)} {
		if c == "not" {
			continue // a label may be called so
		}
		err := (Target{Match: []string{c}}).check()
		if p := r.refused(invalid, err); p.Field != "target.match" {
			t.Errorf("%q: %+v", c, p)
		}
		_, err = r.db.Pool.Exec(t.Context(), `select weir.fleet_submit('x', jsonb_build_object('run', '{"argv": ["x"]}'::jsonb,
			'target', jsonb_build_object('match', jsonb_build_array($1::text))))`, c)
		if p := r.refused(invalid, err); p.Field != "target.match" {
			t.Errorf("%q in SQL: %+v", c, p)
		}
	}
}

func TestMatch(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	of := func(serial, android string) node.Device {
		return node.Device{Serial: serial, Labels: map[string]string{"android": android}}
	}
	r.report("PC-01", of("a", "9"), of("b", "13"), of("c", "14.1"), node.Device{Serial: "d"})
	new13 := func(s *Spec) { s.Target = Target{Match: []string{"android>=13", "not android=14.1"}} }
	p, err := r.store.Preview(t.Context(), r.spec(new13), 10)
	var left []string
	for _, l := range p.Left {
		left = append(left, fmt.Sprint(l.Device, " ", l.Why, " ", l.Coded))
	}
	if err != nil || p.Devices != 1 || strings.Join(left, "; ") != "a android>=13 does not hold: it is 9 {target_label map[condition:android>=13 has:9]}; "+
		"c not android=14.1 does not hold: it is 14.1 {target_label map[condition:not android=14.1 has:14.1]}; "+
		"d android>=13 does not hold {target_label map[condition:android>=13]}" {
		t.Errorf("%q %v", left, err)
	}
	id := r.submit("new", new13)
	runs := r.claim("PC-01", 10)
	r.want("those", serials(runs), "b")
	r.done(runs...)
	r.job(id, JobDone)
	none := r.submit("none", func(s *Spec) { s.Target = Target{Match: []string{"android>20"}} })
	r.want("why", r.job(none, JobFailed).Cause, "no device is in its target: android>20 keeps 4 of 4 out")
}

// A list of devices takes the conditions of a target beside plain labels.
func TestDevicesByCondition(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.report("PC-01", named("d", 3)...)
	r.exec(`update weir.devices set labels = jsonb_build_object('android', (11 + substr(serial, 2)::int)::text)`)
	for label, want := range map[string]string{
		"android=12": "d01", "android>=13": "d02 d03", "not android=12": "d02 d03", "android in (12, 14)": "d01 d03", "ios": "",
	} {
		list, err := r.store.Devices(t.Context(), DeviceFilter{Label: []string{label}}, view.Page{})
		var got []string
		for _, d := range list {
			got = append(got, d.Serial)
		}
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s: %v, %v", label, got, err)
		}
	}
	if _, err := r.store.Devices(t.Context(), DeviceFilter{Label: []string{"android>"}}, view.Page{}); problem.Explain(err).Field != "label" {
		t.Errorf("half a condition: %v", err)
	}
}
