package metrics

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The following code parses as much of PromQL as the dashboard and the alerts use: enough
// to find a metric, a label or a function that does not exist.
var (
	quoted    = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
	selector  = regexp.MustCompile(`\b((?:weir|go|process)_[a-z0-9_]+|up)\b(?:\{([^}]*)\})?(\[\w+\])?`)
	matcher   = regexp.MustCompile(`(\w+)\s*(?:=~|!~|!=|=)`)
	labelList = regexp.MustCompile(`\b(?:by|without|on|ignoring)\s*\(([^)]*)\)`)
	called    = regexp.MustCompile(`\b([a-z_]+)\s*\(`)
	overTime  = regexp.MustCompile(`\b(rate|increase|changes)\((\w+)`)
	functions = []string{
		"sum", "max", "min", "count", "topk", "rate", "increase", "changes", "histogram_quantile", "clamp_min", "time",
		"by", "without", "on", "and",
	}
	// Prometheus makes the foreign labels; Prometheus and the libraries make the foreign
	// metrics.
	foreignLabels  = []string{"job", "instance", "le"}
	foreignMetrics = []string{"up", "go_goroutines", "process_resident_memory_bytes", "process_cpu_seconds_total"}
)

// judge fails the test for each error in an expression and returns the metrics of Weir
// that it uses.
func judge(t *testing.T, expr string) (names []string) {
	t.Helper()
	for _, f := range faults(expr) {
		t.Errorf("%s: %s", expr, f)
	}
	for _, s := range selector.FindAllStringSubmatch(expr, -1) {
		if m, _ := lookup(s[1]); m != nil {
			names = append(names, m.name)
		}
	}
	return names
}

// faults returns the errors in an expression.
func faults(expr string) (out []string) {
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	plain := quoted.ReplaceAllString(expr, "q")
	if !balanced(plain) {
		add("its brackets do not match")
	}
	labels := slices.Clone(foreignLabels)
	for _, s := range selector.FindAllStringSubmatch(plain, -1) {
		m, err := lookup(s[1])
		if err != nil {
			add("%v", err)
			continue
		}
		own := slices.Clone(foreignLabels)
		if m != nil {
			own = append(own, m.labels...)
			labels = append(labels, m.labels...)
			if (m.word() == "counter") != (s[3] != "") && !m.spread && !strings.Contains(plain, "changes(") {
				add("%s is a %s: ask for the rate of counters, and of nothing else", m.name, m.word())
			}
		}
		for _, l := range matcher.FindAllStringSubmatch(s[2], -1) {
			if !slices.Contains(own, l[1]) {
				add("%s has no label %q", s[1], l[1])
			}
		}
	}
	for _, list := range labelList.FindAllStringSubmatch(plain, -1) {
		for _, name := range strings.Split(list[1], ",") {
			if !slices.Contains(labels, strings.TrimSpace(name)) {
				add("nothing there has a label %q", name)
			}
		}
	}
	for _, f := range called.FindAllStringSubmatch(plain, -1) {
		if !slices.Contains(functions, f[1]) {
			add("there is no function %s", f[1])
		}
	}
	for _, f := range overTime.FindAllStringSubmatch(plain, -1) {
		if i := strings.Index(plain, f[0]); !strings.Contains(plain[i:], "[") {
			add("%s needs a range", f[1])
		}
	}
	return out
}

// lookup returns the metric of a name in an expression, or nil for a foreign one.
func lookup(name string) (*metric, error) {
	if slices.Contains(foreignMetrics, name) {
		return nil, nil
	}
	for _, m := range declared {
		switch {
		case m.spread && slices.Contains([]string{m.name + "_bucket", m.name + "_sum", m.name + "_count"}, name), !m.spread && m.name == name:
			return m, nil
		}
	}
	return nil, fmt.Errorf("there is no metric %s", name)
}

func balanced(s string) bool {
	var open []rune
	pairs := map[rune]rune{')': '(', ']': '[', '}': '{'}
	for _, r := range s {
		switch r {
		case '(', '[', '{':
			open = append(open, r)
		case ')', ']', '}':
			if len(open) == 0 || open[len(open)-1] != pairs[r] {
				return false
			}
			open = open[:len(open)-1]
		}
	}
	return len(open) == 0
}
