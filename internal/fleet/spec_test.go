package fleet

import (
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/problem"
)

func TestParseSpec(t *testing.T) {
	s, err := ParseSpec([]byte(`
name: smoke
run: {argv: [./smoke.sh], env: {LEVEL: full}}
params: {build: 7}
target: {labels: {model: x}, tag: night}
repeat: 2
timeout: 15m
backoff: 5s
infra: {attempts: 2, exit: [66, 70], place: other_pc}
join: running
breaker: 0
linger: 1d12h
priority: 3
`))
	if err != nil {
		t.Fatal(err)
	}
	if time.Duration(s.Timeout) != 15*time.Minute || *s.Breaker != 0 || time.Duration(*s.Linger) != 36*time.Hour || s.Infra.Place != PlaceOtherPC || s.Target.Tag != "night" || s.Run.Env["LEVEL"] != "full" {
		t.Errorf("%+v", s)
	}
	if _, err := ParseSpec([]byte(`{"run": {"argv": ["x"]}, "target": {"all": true}}`)); err != nil {
		t.Error(err)
	}
}

func TestParseSpecRefuses(t *testing.T) {
	good := "run: {argv: [x]}\ntarget: {all: true}\n"
	for text, want := range map[string]string{
		"":                           "spec: a mapping of fields",
		"- a":                        "spec: a mapping of fields",
		"run: {argv: [x]":            "spec: neither YAML nor JSON",
		"target: {all: true}":        "run: what runs",
		"run: {argv: [x]}":           "target: on which devices",
		good + "colour: red":         "colour: no field colour",
		good + "repeat: many":        "repeat: string",
		good + "repeat: -1":          "repeat: -1",
		good + "any: 1000000":        "any: 1000000",
		good + "attempts: 101":       "attempts: 101",
		good + "priority: 200":       "priority: 200",
		good + "timeout: soon":       `timeout: "soon" is not a duration`,
		good + "linger: 1w":          `linger: "1w" is not a duration`,
		good + "timout: 5m":          "timout: no field timout",
		good + "infra: {exits: [3]}": "infra.exits: infra has no field exits",
		"run: {argv: [x], shell: true}\ntarget: {all: true}":          "run.shell: run has no field shell",
		good + "---\n" + good:                                         "spec: more than one document",
		good + "timeout: 1ms":                                         "timeout: 1ms",
		good + "linger: 1000h":                                        "linger: 1000h",
		good + "join: never":                                          `join: "never"`,
		good + "breaker: -2":                                          "breaker: -2",
		good + "infra: {place: moon}":                                 `infra.place: "moon"`,
		good + "infra: {attempts: 200}":                               "infra.attempts: 200",
		good + "infra: {exit: [0]}":                                   "infra.exit: 0 is no exit code",
		"run: {argv: [x]}\ntarget: {devices: ['-x']}":                 `target.devices: "-x"`,
		"run: {argv: [sh, -c, 'echo {serial}']}\ntarget: {all: true}": "run.argv[2]: one word",
		good + "setup: {argv: [sh, -c, 'echo {target}']}":             "setup.argv[2]: one word",
		good + "params: [1]":                                          "params: array",
		good + "name: " + strings.Repeat("x", 201):                    "name: too long",
	} {
		_, err := ParseSpec([]byte(text))
		if err == nil {
			t.Errorf("%q was taken", text)
			continue
		}
		p := problem.Explain(err)
		field, what, _ := strings.Cut(want, ": ")
		if p.Kind != problem.Invalid || p.Field != field || !strings.Contains(p.What, what) || p.Next == "" {
			t.Errorf("%q: field %q, what %q, next %q; wanted %q", text, p.Field, p.What, p.Next, want)
		}
	}
}

// The database accepts what Go accepts, with the same defaults.
func TestSpecStored(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.report("PC-01", named("a", 1)...)
	s, err := ParseSpec([]byte("run: {argv: [x]}\ntarget: {all: true}\ntimeout: 1h30m\nbackoff: 1.5s\nlinger: 0\ninfra: {exit: [66]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	id := r.submit("stored", func(to *Spec) { *to = s })
	var timeout, backoff, linger time.Duration
	var attempts, infra, breaker int
	if err := r.db.Pool.QueryRow(t.Context(), `select timeout, backoff, linger, max_attempts, infra_attempts, breaker from weir.fleet_jobs where job = $1`, id).
		Scan(&timeout, &backoff, &linger, &attempts, &infra, &breaker); err != nil {
		t.Fatal(err)
	}
	if timeout != 90*time.Minute || backoff != 1500*time.Millisecond || linger != 0 || attempts != 3 || infra != 3 || breaker != 2 {
		t.Error(timeout, backoff, linger, attempts, infra, breaker)
	}
	j := r.job(id, JobActive)
	if len(j.Spec.Run.InfraOn) != 1 || j.Spec.Run.InfraOn[0] != 66 {
		t.Errorf("the agent knows infra.exit as infra_on: %+v", j.Spec.Run)
	}
}

// The database itself refuses invalid specs that do not come through Go.
func TestSpecRefusedBySQL(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, bad := range []string{
		`null`, `[]`, `{}`, `{"run": {}, "target": {"all": true}}`, `{"run": {"argv": ["x"]}}`, `{"run": {"argv": ["x"]}, "target": {"every": true}}`,
		`{"run": {"argv": ["x"]}, "target": {"all": true}, "timeout": "soon"}`, `{"run": {"argv": ["x"]}, "target": {"all": true}, "timeout": 5}`,
		`{"run": {"argv": ["x"]}, "target": {"all": true}, "repeat": 1.5}`, `{"run": {"argv": ["x"]}, "target": {"all": true}, "repeat": 99999999999999}`,
		`{"run": {"argv": ["x"]}, "target": {"all": true}, "infra": {"place": "moon"}}`, `{"run": {"argv": ["x"]}, "target": {"devices": []}}`,
		`{"run": {"argv": ["x"]}, "target": {"labels": {"a": 1}}}`, `{"run": {"argv": ["x"]}, "target": {"all": true}, "infra": []}`,
	} {
		_, err := r.db.Pool.Exec(t.Context(), `select weir.fleet_submit('x', $1)`, bad)
		if err == nil {
			t.Errorf("%s was taken", bad)
			continue
		}
		r.refused(problem.Invalid, err)
	}
}
