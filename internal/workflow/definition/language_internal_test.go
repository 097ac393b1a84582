package definition

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// TestMoments checks times where clocks are set: what does not exist is the moment at
// which they were set forward, and a day is a day of its place.
func TestMoments(t *testing.T) {
	env := map[string]any{"params": map[string]any{
		"gap": "2026-03-28T02:30:00+01:00", "back": "2026-10-24T12:00:00+02:00", "cairo": "2026-04-23T12:00:00+02:00", "day": "2026-10-26",
	}}
	for source, want := range map[string]string{
		`{{ .params.gap | inZone "Europe/Budapest" | addDays 1 }}`:                            "2026-03-29T03:00:00+02:00",
		`{{ .params.gap | inZone "Europe/Budapest" | addDays 2 }}`:                            "2026-03-30T02:30:00+02:00",
		`{{ .params.gap | inZone "Europe/Budapest" | addHours 24 }}`:                          "2026-03-29T03:30:00+02:00",
		`{{ .params.back | inZone "Europe/Budapest" | addDays 1 }}`:                           "2026-10-25T12:00:00+01:00",
		`{{ .params.back | inZone "Europe/Budapest" | addDays 1 | startOfDay }}`:              "2026-10-25T00:00:00+02:00",
		`{{ .params.back | inZone "Europe/Budapest" | startOfMonth | addMonths -1 }}`:         "2026-09-01T00:00:00+02:00",
		`{{ .params.cairo | inZone "Africa/Cairo" | addDays 1 | startOfDay }}`:                "2026-04-24T01:00:00+03:00",
		`{{ .params.cairo | inZone "Africa/Cairo" | addDays 1 | startOfDay | date "01-02" }}`: "04-24",
		`{{ .params.day | inZone "Europe/Budapest" }}`:                                        "2026-10-26T00:00:00+01:00",
		`{{ .params.day | addDays -1 | inZone "America/New_York" }}`:                          "2026-10-25T00:00:00-04:00",
		`{{ .params.day | addMonths 4 | startOfWeek }}`:                                       "2027-02-22T00:00:00Z",
	} {
		tpl, err := parseTemplate(source)
		if err != nil {
			t.Fatalf("%s: %v", source, err)
		}
		if v, err := tpl.render(env, newBudget()); err != nil || show(v) != want {
			t.Errorf("%s: %v, %v; want %s", source, v, err, want)
		}
	}
	for source, want := range map[string]string{
		`{{ .params.day | inZone "Local" }}`:    `inZone: "Local" is no zone such as Europe/Budapest`,
		`{{ .params.day | addDays 9999999 }}`:   `addDays: 9999999 is outside -1000000 to 1000000`,
		`{{ .params.day | addMonths 999999 }}`:  `addMonths: the year is outside 1 to 9999`,
		`{{ .params.day | addDays "1" }}`:       `addDays: wants a whole number, got text`,
		`{{ 3 | startOfDay }}`:                  `startOfDay: wants a time, got a number`,
		`{{ .params.day | date "2006" "Moon"}}`: `date: "Moon" is no zone such as Europe/Budapest`,
	} {
		tpl, err := parseTemplate(source)
		if err != nil {
			t.Fatalf("%s: %v", source, err)
		}
		if v, err := tpl.render(env, newBudget()); err == nil || err.Error() != want {
			t.Errorf("%s: %v, %v; want %s", source, v, err, want)
		}
	}
	env["job"] = map[string]any{"scheduled_at": moment{Time: time.Date(2026, 7, 10, 0, 30, 0, 0, time.FixedZone("", 7200))}}
	for _, source := range []string{
		`job.scheduled_at == "2026-07-09T22:30:00Z"`, `job.scheduled_at > "2026-07-10"`, `job.scheduled_at < "2026-07-10T01:00:00+02:00"`,
		`job.scheduled_at startsWith "2026-07-10T00:30"`, `len(job.scheduled_at) == 25`, `job.scheduled_at in ["2026-07-09T22:30:00Z"]`,
		`max(job.scheduled_at, addDays(job.scheduled_at, 1)) == addDays(job.scheduled_at, 1)`, `"at " + job.scheduled_at == "at 2026-07-10T00:30:00+02:00"`,
	} {
		e, err := parseExpression(source)
		if err != nil {
			t.Fatalf("%s: %v", source, err)
		}
		if yes, err := e.truth(env); err != nil || !yes {
			t.Errorf("%s: %v, %v", source, yes, err)
		}
	}
}

// TestScriptTakesAnyValue runs a script with values that would be commands in a line of a
// shell, and finds them whole in its variables.
func TestScriptTakesAnyValue(t *testing.T) {
	const text = `
steps:
  - key: one
    map: {over: [{os: "$(touch ITEM)", n: 3}]}
    script: |
      printf '%s|' "$PARAM_SOURCE" "$PARAM_LIST" "$PARAM_A_B" "$PARAM_NONE" "$ITEM_OS" "$ITEM_N" "$INDEX"
      printf '%s' "${PARAM_LARGE-left out}"
`
	d, faults := Parse("x.yaml", []byte(text))
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	const evil = "x; touch PWNED; echo $(touch PWNED) `touch PWNED` '\" \\ \n é {{ .params.list }}"
	params, err := d.Input(Options{Params: map[string]any{"source": evil, "list": []any{1, "a b"}, "a-b": true, "none": nil, "large": strings.Repeat("x", maxVariable+1)}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := d.Resolve("one", Facts{Params: params})
	if err != nil || len(r.Items) != 1 {
		t.Fatal(r, err)
	}
	var o order
	if err := json.Unmarshal(r.Items[0].Run, &o); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(o.Argv[0], o.Argv[1:]...)
	cmd.Dir = t.TempDir()
	for name, value := range o.Env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	out, err := cmd.CombinedOutput()
	if want := evil + `|[1,"a b"]|true||$(touch ITEM)|3|0|left out`; err != nil || string(out) != want {
		t.Errorf("%v\n got %s\nwant %s", err, out, want)
	}
	if left, err := os.ReadDir(cmd.Dir); err != nil || len(left) > 0 {
		t.Errorf("a value was run: %v %v", left, err)
	}
}

// TestShellWarnings checks which values in the line of a shell are warned of.
func TestShellWarnings(t *testing.T) {
	for argv, warns := range map[string]bool{
		`[sh, -c, "echo {{ .params.s }}"]`:              true,
		`[/bin/bash, -euc, "echo {{ .params.s }}"]`:     true,
		`[env, A=b, sh, -e, -c, "{{ .item }}"]`:         true,
		`[python3.12, -c, "print('{{ .params.s }}')"]`:  true,
		`[psql, --command, "select '{{ .params.s }}'"]`: true,
		`[cmd.exe, /c, "echo {{ .params.s }}"]`:         true,
		`[sh, -c, 'echo "$1"', sh, "{{ .params.s }}"]`:  false,
		`[sh, -c, "echo {{ .params.n }} {{ .index }}"]`: false,
		`[sh, -c, "echo {{ .job.id }}"]`:                false,
		`[sh, script.sh, "{{ .params.s }}"]`:            false,
		`[echo, -c, "{{ .params.s }}"]`:                 false,
	} {
		d, faults := Parse("x.yaml", []byte("params: {s: {type: string, default: x}, n: {type: integer, default: 1}}\nsteps: [{key: a, map: {over: [1]}, run: "+argv+"}]"))
		if err := faults.Err(); err != nil {
			t.Fatalf("%s: %v", argv, err)
		}
		found := d.Lint()
		if err := found.Err(); err != nil {
			t.Errorf("%s: %v", argv, err)
		}
		if strings.Contains(found.Error(), "becomes a part of a program") != warns {
			t.Errorf("%s: %v", argv, found)
		}
	}
}

// TestStoredFormStays checks that definitions of the version before read as they did and
// have the same bytes, because those are the identity of a version.
func TestStoredFormStays(t *testing.T) {
	for file, want := range map[string]string{
		"media.yaml":   "f74844e2b1585808",
		"map.yaml":     "860ff0b0b233a19e",
		"drivers.yaml": "49f917332fca9127",
		"dynamic.yaml": "e026f0783444a370",
	} {
		text, err := os.ReadFile("testdata/good/" + file)
		if err != nil {
			t.Fatal(err)
		}
		d, faults := Parse(file, text)
		if err := faults.Err(); err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(d.JSON())
		if got := hex.EncodeToString(sum[:8]); got != want {
			t.Errorf("%s: %s, was %s before", file, got, want)
		}
	}
}
