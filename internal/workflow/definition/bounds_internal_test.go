package definition

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// TestParseBounds checks that a large text of any kind is read or refused; without the
// bounds some of these would be read for hours.
func TestParseBounds(t *testing.T) {
	fill := func(s string) string { return strings.Repeat(s, (1<<18)/len(s)) }
	var keys, chain, anchors strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&keys, "  k%d: 1\n", i)
		fmt.Fprintf(&anchors, "- &a%d x\n", i)
	}
	chain.WriteString("name: chain\nsteps:\n- {key: s0, service: s}\n")
	for i := 1; i < 10_000; i++ {
		fmt.Fprintf(&chain, "- {key: s%d, service: s, needs: [s%d], params: {x: \"{{ .needs.s0.result }}\"}}\n", i, i-1)
	}
	wide := "name: wide\nsteps:\n"
	for i := range 500 {
		needs := make([]string, i)
		for j := range needs {
			needs[j] = fmt.Sprintf("s%d", j)
		}
		wide += fmt.Sprintf("- {key: s%d, service: s, needs: [%s]}\n", i, strings.Join(needs, ","))
	}
	for name, text := range map[string]string{
		"dashes":    fill("- "),
		"questions": fill("? "),
		"brackets":  fill("["),
		"braces":    fill("{a: "),
		"pairs":     "[" + fill("[],") + "]",
		"quotes":    "x: \"" + fill("\\n"),
		"comments":  fill("# a\n"),
		"mixed":     fill("a: b # c\n\n"),
		"spaces":    fill(" \n"),
		"tabs":      fill("\t,\n"),
		"colons":    fill("a:\n "),
		"folded":    "x: >\n" + fill("  a\n\n"),
		"keys":      "steps: [{key: a, service: s}]\ndefaults:\n" + keys.String(),
		"anchors":   anchors.String(),
		"aliases":   "- &a [1]\n" + fill("- *a\n"),
		"chain":     chain.String(),
		"wide":      wide,
		"templates": "steps: [{key: a, service: s, params: {x: [" + fill("'{{.params.x}}',") + "]}}]",
		"bad":       "steps: [{key: a, service: s, params: {x: [" + fill("'{{.prams.x}}',") + "]}}]",
		"unknown":   "steps:\n- " + fill("{a: b}\n- "),
		"json":      "{\"steps\": [" + fill("{\"a\":1},") + "{}]}",
	} {
		if d, _ := Parse("x.yaml", []byte(text)); d != nil {
			if len(d.Lint()) > faultLimit {
				t.Errorf("%s: more faults than anybody reads", name)
			}
			if _, err := d.Plan(Input{Params: map[string]any{"x": int64(1)}}); err != nil && name != "bad" {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// TestPlaces checks that columns count characters, also after Windows line ends.
func TestPlaces(t *testing.T) {
	for text, want := range map[string]string{
		"description: é\r\nsteps:\r\n- {key: a, servise: s}\r\n":                                     "3:3 3:12",
		"steps: [{key: a, service: s, description: ééé, nope: 1}]":                                   "1:48",
		"{\"description\": \"é\", \"nope\": 1,\n \"steps\": [{\"key\": \"a\", \"service\": \"s\"}]}": "1:22",
		"\ufeffsteps:\n- {key: a, service: s, nope: 1}":                                              "2:24",
	} {
		_, faults := Parse("x", []byte(text))
		got := []string{}
		for _, f := range faults {
			got = append(got, fmt.Sprintf("%d:%d", f.Line, f.Column))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %v, want %s\n%v", text, got, want, faults)
		}
	}
}

// TestPatternsAreBounded checks that a kilobyte of pattern that would compile to a
// million instructions is refused by the name of its field, wherever it is.
func TestPatternsAreBounded(t *testing.T) {
	bomb := strings.Repeat("(", 490) + "a" + strings.Repeat(")", 490) + "{1000}"
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, faults := Parse("x.yaml", []byte("name: bomb\nparams: {x: {type: string, pattern: '"+bomb+"'}}\nsteps: [{key: a, service: s}]"))
	runtime.ReadMemStats(&after)
	if len(faults) != 1 || faults[0].Path != "params.x.pattern" || !strings.Contains(faults[0].What, "more than 50 deep") {
		t.Errorf("a schema: %+v", faults)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 16<<20 {
		t.Errorf("%d bytes were allocated to refuse it", n)
	}
	e, err := parseExpression(`params.s matches params.t`)
	if err != nil {
		t.Fatal(err)
	}
	_, err = e.evaluate(map[string]any{"params": map[string]any{"s": "a", "t": bomb}})
	if err == nil || !strings.Contains(err.Error(), "more than 50 deep") {
		t.Errorf("an expression: %v", err)
	}
}
