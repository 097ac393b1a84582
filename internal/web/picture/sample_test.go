package picture

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// samples are pictures as the dashboard shows them. Tests compare them with
// testdata, and TestSamplePage shows them to a person.
func samples() []sample {
	return []sample{
		{"dag-small", DAG(lang, smallGraph())},
		{"dag-fanout", DAG(lang, fanOut(400))},
		{"dag-long", DAG(lang, longEdges())},
		{"dag-compact", DAG(lang, mesh(200))},
		{"dag-parts", DAG(lang, manyParts())},
		{"dag-chains", DAG(lang, chains(300))},
		{"dag-text", DAG(lang, awkwardText())},
		{"dag-cycle", DAG(lang, cycle())},
		{"dag-empty", DAG(lang, Graph{})},
		{"gantt-small", Gantt(lang, timetableSmall())},
		{"gantt-large", Gantt(lang, timetableLarge())},
		{"gantt-quick", Gantt(lang, timetableQuick())},
		{"gantt-days", Gantt(lang, timetableDays())},
		{"gantt-empty", Gantt(lang, Timetable{})},
		{"chart-flow", Throughput(lang, flow())},
		{"chart-flow-one", Throughput(lang, Flow{Points: []FlowPoint{{noon, 3, 1}}})},
		{"chart-delays", Latency(lang, delays())},
		{"chart-empty", Latency(lang, Delays{})},
		{"chart-gates", Gates(lang, waiting())},
		{"fleet-capacity", Capacity(lang, machines())},
		{"life", Strip(lang, life())},
	}
}

type sample struct {
	name string
	svg  SVG
}

// TestSamplePage writes every sample into one page per theme, for a person to
// look at: PICTURES=folder go test -run TestSamplePage. TOKENS names the
// stylesheet with the colours of the page.
func TestSamplePage(t *testing.T) {
	folder := os.Getenv("PICTURES")
	if folder == "" {
		folder = t.TempDir() // nobody looks, but it must be possible
	}
	stylesheet := os.Getenv("TOKENS")
	if stylesheet == "" {
		stylesheet = "../asset/files/1-tokens.css"
	}
	tokens, err := os.ReadFile(stylesheet)
	if err != nil {
		t.Fatal(err)
	}
	for _, theme := range []string{"light", "dark"} {
		var b strings.Builder
		fmt.Fprintf(&b, "<!doctype html><html data-theme=%q><meta charset=utf-8><style>%s\n%s\n", theme, tokens, CSS)
		fmt.Fprintf(&b, ":root{color-scheme:%s}body{background:var(--bg);color:var(--text);font-family:var(--font);margin:20px}section{background:var(--surface);border:1px solid var(--line);border-radius:8px;padding:12px;margin:0 0 16px;max-width:1160px}h2{font-size:13px;margin:0 0 8px;color:var(--muted)}</style>\n", theme)
		only := os.Getenv("ONLY")
		for _, s := range samples() {
			if only == "" || strings.HasPrefix(s.name, only) {
				fmt.Fprintf(&b, "<section><h2>%s</h2>%s</section>\n", s.name, s.svg)
			}
		}
		if err := os.WriteFile(filepath.Join(folder, theme+".html"), []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
