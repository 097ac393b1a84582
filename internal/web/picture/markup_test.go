package picture

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

type failer interface {
	Helper()
	Fatalf(string, ...any)
}

// element is a start tag of a picture.
type element struct {
	name  string
	attrs map[string]string
}

// parse reads a picture as XML and checks what every picture promises.
func parse(t failer, svg SVG) []element {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(string(svg)))
	d.Strict = true
	var out []element
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("not well formed: %v\n%s", err, svg)
		}
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		e := element{start.Name.Local, map[string]string{}}
		for _, a := range start.Attr {
			e.attrs[a.Name.Local] = a.Value
		}
		out = append(out, e)
		checkElement(t, e)
	}
	if len(out) == 0 {
		t.Fatalf("nothing drawn")
	}
	return out
}

var bad = regexp.MustCompile(`NaN|Inf|e[+-]\d`)

func checkElement(t failer, e element) {
	t.Helper()
	if !slices.Contains([]string{"svg", "g", "a", "rect", "path", "circle", "text", "tspan", "title", "desc", "div", "p"}, e.name) {
		t.Fatalf("a picture holds <%s>", e.name)
	}
	for name, value := range e.attrs {
		switch name {
		case "style", "id":
			t.Fatalf("<%s> has the attribute %s", e.name, name)
		case "href":
			if !safeHref(value) {
				t.Fatalf("<%s> leads to %q", e.name, value)
			}
		case "x", "y", "width", "height", "rx", "d", "viewBox", "transform", "r", "cx", "cy", "stroke-dasharray", "stroke-dashoffset":
			if bad.MatchString(value) {
				t.Fatalf("<%s %s=%q>", e.name, name, value)
			}
			if name == "width" || name == "height" || name == "r" {
				if v, err := strconv.ParseFloat(value, 64); err != nil || v < 0 {
					t.Fatalf("<%s %s=%q>", e.name, name, value)
				}
			}
		}
		if strings.HasPrefix(name, "on") {
			t.Fatalf("<%s> has the attribute %s", e.name, name)
		}
	}
}

func TestEveryPictureHasWordsAndARole(t *testing.T) {
	for _, s := range samples() {
		elements := parse(t, s.svg)
		if strings.HasSuffix(s.name, "empty") {
			if elements[0].attrs["class"] != "pic-empty" {
				t.Errorf("%s: no sentence in the place of the picture", s.name)
			}
			continue
		}
		for i, e := range elements {
			if e.name != "svg" {
				continue
			}
			if elements[i+1].name != "title" {
				t.Errorf("%s: <svg> does not start with its title", s.name)
			}
			links := slices.ContainsFunc(elements, func(e element) bool { return e.name == "a" })
			if want := map[bool]string{false: "img", true: "group"}[links]; e.attrs["role"] != want {
				t.Errorf("%s: role %q, want %q", s.name, e.attrs["role"], want)
			}
		}
	}
}

func TestEveryClassHasARule(t *testing.T) {
	css := string(CSS)
	free := []string{"pic-dag", "pic-gantt", "pic-chart", "pic-gates", "pic-capacity", "pic-strip"} // say which picture it is
	for _, s := range samples() {
		for _, e := range parse(t, s.svg) {
			for _, class := range strings.Fields(e.attrs["class"]) {
				if !slices.Contains(free, class) && !regexp.MustCompile(`\.`+class+`\b[^-]`).MatchString(css) {
					t.Errorf("%s: class %s has no rule in picture.css", s.name, class)
				}
			}
		}
	}
}

// TestEveryColourIsATokenOfThePage reads the stylesheets of the dashboard: a
// custom property that none of them sets would make shapes black or vanish.
func TestEveryColourIsATokenOfThePage(t *testing.T) {
	sheets := string(CSS)
	err := filepath.WalkDir("..", func(path string, _ os.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".css" {
			return err
		}
		b, err := os.ReadFile(path)
		sheets += string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, use := range regexp.MustCompile(`var\((--[a-z0-9-]+)`).FindAllStringSubmatch(string(CSS), -1) {
		if !strings.Contains(sheets, use[1]+":") {
			t.Errorf("picture.css uses %s, which no stylesheet sets", use[1])
		}
	}
}

// anyText is text nobody should send: markup, control characters, both
// directions, wide letters, broken bytes.
func anyText() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.String(),
		rapid.StringMatching(`[<>&"'\x00-\x1f]{0,12}`),
		rapid.SampledFrom([]string{"", "render", "한국어 작업", "גיבוי", "\u202Eabc", "]]>", "<!--", "a\xffb", "👩‍👩‍👧", "é́́", strings.Repeat("긴", 300)}),
	)
}

func anyState() *rapid.Generator[State] {
	return rapid.OneOf(rapid.SampledFrom(append([]State{Expired, Retrying, Draining, Offline}, States...)), rapid.Map(anyText(), func(s string) State { return State(s) }))
}

func anyTime() *rapid.Generator[time.Time] {
	return rapid.OneOf(
		rapid.Just(time.Time{}),
		rapid.Map(rapid.Int64Range(0, 100_000), func(ms int64) time.Time { return noon.Add(time.Duration(ms) * time.Millisecond) }),
		rapid.Map(rapid.Int64Range(-1<<40, 1<<40), func(s int64) time.Time { return time.Unix(s, 0) }),
	)
}

func TestAnyGraphIsDrawn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 60).Draw(t, "tasks")
		services := rapid.SliceOfN(anyText(), 1, 3).Draw(t, "services")
		in := Graph{Title: anyText().Draw(t, "title"), GroupHref: func(s string) string { return s }}
		for range n {
			in.Tasks = append(in.Tasks, Task{
				Key: anyText().Draw(t, "key"), Service: rapid.SampledFrom(services).Draw(t, "service"), State: anyState().Draw(t, "state"), Gate: anyText().Draw(t, "gate"),
				Attempt: rapid.Int().Draw(t, "attempt"), Percent: rapid.Int().Draw(t, "percent"), Href: anyText().Draw(t, "href"), Note: anyText().Draw(t, "note"),
			})
		}
		for range rapid.IntRange(0, 80).Draw(t, "edges") {
			in.Edges = append(in.Edges, [2]int{rapid.IntRange(-1, n).Draw(t, "from"), rapid.IntRange(-1, n).Draw(t, "to")})
		}
		elements := parse(t, DAG(lang, in))
		boxes, links := newGraph(in).boxes()
		nodes, lines, tasks := 0, 0, 0
		for _, e := range elements {
			if strings.HasPrefix(e.attrs["class"], "pic-node") {
				nodes++
			}
			if strings.HasPrefix(e.attrs["class"], "pic-edge") {
				lines += strings.Count(e.attrs["d"], "M")
			}
		}
		for _, b := range boxes {
			tasks += len(b.tasks)
		}
		if nodes != len(boxes) || tasks != n || lines != len(links) {
			t.Fatalf("%d of %d boxes, %d of %d tasks, %d of %d edges", nodes, len(boxes), tasks, n, lines, len(links))
		}
	})
}

func TestAnyTimetableIsDrawn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := Timetable{Title: anyText().Draw(t, "title"), Now: anyTime().Draw(t, "now"), Limit: rapid.IntRange(-1, 9).Draw(t, "limit"), Width: rapid.IntRange(-1, 2000).Draw(t, "width")}
		for range rapid.IntRange(0, 12).Draw(t, "rows") {
			r := Row{Name: anyText().Draw(t, "name"), State: anyState().Draw(t, "state"), Created: anyTime().Draw(t, "created"), Href: anyText().Draw(t, "href"), Needs: rapid.SliceOfN(rapid.IntRange(-1, 13), 0, 3).Draw(t, "needs")}
			for range rapid.IntRange(0, 3).Draw(t, "bars") {
				r.Bars = append(r.Bars, Bar{1, anyState().Draw(t, "outcome"), anyText().Draw(t, "worker"), anyTime().Draw(t, "from"), anyTime().Draw(t, "to")})
			}
			for range rapid.IntRange(0, 2).Draw(t, "waits") {
				r.Waits = append(r.Waits, Wait{anyText().Draw(t, "gate"), anyTime().Draw(t, "from"), anyTime().Draw(t, "to")})
			}
			in.Rows = append(in.Rows, r)
		}
		parse(t, Gantt(lang, in))
	})
}

func TestAnyNumbersAreDrawn(t *testing.T) {
	number := rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, 1}))
	rapid.Check(t, func(t *rapid.T) {
		f := Flow{Title: anyText().Draw(t, "title"), From: anyTime().Draw(t, "from"), To: anyTime().Draw(t, "to"), Step: time.Duration(rapid.Int64Range(-1, 1<<40).Draw(t, "step"))}
		d := Delays{From: f.From, To: f.To, Step: f.Step}
		for range rapid.IntRange(0, 9).Draw(t, "points") {
			f.Points = append(f.Points, FlowPoint{anyTime().Draw(t, "at"), rapid.Int().Draw(t, "done"), rapid.Int().Draw(t, "failed")})
			d.Points = append(d.Points, DelayPoint{anyTime().Draw(t, "at"), number.Draw(t, "p50"), number.Draw(t, "p95")})
		}
		parse(t, Throughput(lang, f))
		parse(t, Latency(lang, d))
	})
}

func TestAnyMachinesAreDrawn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, state := anyText(), anyState()
		var m Machines
		var w Waiting
		var l Life
		for range rapid.IntRange(0, 5).Draw(t, "rows") {
			m.Rows = append(m.Rows, Machine{Name: text.Draw(t, "name"), State: state.Draw(t, "state"), Services: []Service{{text.Draw(t, "service"), rapid.Int().Draw(t, "used"), rapid.Int().Draw(t, "size")}}})
			w.Rows = append(w.Rows, WaitRow{Gate: text.Draw(t, "gate"), Key: text.Draw(t, "key"), Count: rapid.Int().Draw(t, "count"), Oldest: time.Duration(rapid.Int64().Draw(t, "oldest"))})
			l.Spans = append(l.Spans, Span{State: state.Draw(t, "state"), Note: text.Draw(t, "note"), From: anyTime().Draw(t, "from"), To: anyTime().Draw(t, "to")})
		}
		parse(t, Capacity(lang, m))
		parse(t, Gates(lang, w))
		parse(t, Strip(lang, l))
	})
}
