package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The streams come from the real go test, run on a small module.
var source = map[string]string{
	"go.mod":    "module example.com/m\n\ngo 1.26\n",
	"good/a.go": "package good\n",
	"good/a_test.go": `package good
import "testing"
func TestPlain(t *testing.T) { t.Log("quiet"); t.Log("measured: 7 ms") }
func TestParent(t *testing.T) { t.Run("one", func(t *testing.T) {}); t.Run("two", func(t *testing.T) {}) }
`,
	"bad/a_test.go": `package bad
import "testing"
func TestParent(t *testing.T) { t.Run("child", func(t *testing.T) { t.Error("broken here") }) }
`,
	"skip/a_test.go": `package skip
import "testing"
func TestNeeds(t *testing.T) { t.Skip("no docker on this machine") }
func TestRuns(t *testing.T) {}
`,
	"panics/a_test.go": `package panics
import "testing"
func TestPanics(t *testing.T) { panic("out of order") }
`,
	"build/a_test.go": `package build
import "testing"
func TestBuild(t *testing.T) { undefinedThing() }
`,
	"main/a_test.go": `package main
import ("fmt"; "os"; "testing")
func TestMain(m *testing.M) { fmt.Println("no database"); os.Exit(3) }
func TestNever(t *testing.T) {}
`,
	"none/a.go": "package none\n",
}

func TestSummaryOfRealRuns(t *testing.T) {
	dir := t.TempDir()
	for name, text := range source {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		pkg    string
		ci, ok bool
		last   string
		has    []string
		not    string
	}{
		{"good", true, true, "3 passed, 0 failed, 0 skipped", []string{"ok  \texample.com/m/good", "TestPlain: 7 ms"}, "quiet"},
		{"bad", false, false, "0 passed, 1 failed, 0 skipped", []string{"broken here", "FAIL\texample.com/m/bad", "FAIL  example.com/m/bad TestParent/child\n          a_test.go:3: broken here"}, ""},
		{"skip", false, true, "1 passed, 0 failed, 1 skipped", []string{"SKIP  example.com/m/skip TestNeeds: a_test.go:3: no docker"}, "is a failure"},
		{"skip", true, false, "1 passed, 0 failed, 1 skipped", []string{"a skipped test is a failure"}, ""},
		{"panics", false, false, "0 passed, 1 failed, 0 skipped", []string{"panic: out of order", "TestPanics"}, ""},
		{"build", false, false, "0 passed, 1 failed, 0 skipped", []string{"undefined: undefinedThing", "FAIL  example.com/m/build"}, ""},
		{"main", false, false, "0 passed, 1 failed, 0 skipped", []string{"no database", "FAIL  example.com/m/main\n      no database\n"}, ""},
		{"none", false, false, "0 passed, 0 failed, 0 skipped", []string{"[no test files]", "no test ran"}, ""},
	} {
		t.Run(c.pkg, func(t *testing.T) {
			cmd := exec.Command("go", "test", "-json", "./"+c.pkg)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off")
			stream, _ := cmd.Output() // the status of a failing run is not zero
			got, ok := summarise(t, string(stream), c.ci)
			if ok != c.ok {
				t.Errorf("ok = %v, want %v", ok, c.ok)
			}
			if !strings.HasSuffix(got, c.last+"\n") {
				t.Errorf("last line is not %q", c.last)
			}
			for _, want := range c.has {
				if !strings.Contains(got, want) {
					t.Errorf("lacks %q", want)
				}
			}
			if c.not != "" && strings.Contains(got, c.not) {
				t.Errorf("has %q", c.not)
			}
			if t.Failed() {
				t.Logf("report:\n%s", got)
			}
		})
	}
}

func TestCutStreamFails(t *testing.T) {
	got, ok := summarise(t, events(
		event{Action: "start", Package: "m/a"},
		event{Action: "run", Package: "m/a", Test: "TestLong"},
		event{Action: "output", Package: "m/a", Test: "TestLong", Output: "half way\n"},
	), false)
	if ok || !strings.Contains(got, "half way") || !strings.Contains(got, "ended without a verdict") {
		t.Errorf("a killed run looks fine:\n%s", got)
	}
}

// The end of the report says again what failed, and stays readable.
func TestTheEndSaysWhatFailed(t *testing.T) {
	var stream strings.Builder
	for i := range 100 {
		stream.WriteString(events(event{Action: "output", Package: "m/a", Test: "TestLong", Output: fmt.Sprintf("line %d\n", i)}))
	}
	stream.WriteString(events(event{Action: "fail", Package: "m/a", Test: "TestLong"}, event{Action: "fail", Package: "m/a"},
		event{Action: "output", Package: "m/b", Output: "ok  \tm/b\t0.1s\n"}, event{Action: "pass", Package: "m/b"}))
	got, _ := summarise(t, stream.String(), false)
	_, end, _ := strings.Cut(got, "ok  \tm/b")
	if !strings.Contains(end, "FAIL  m/a TestLong\n      (60 lines above)\n      line 60\n") || !strings.Contains(end, "      line 99\n0 passed, 1 failed") {
		t.Errorf("%s", end)
	}
}

// The report names the ten slowest tests, slowest first; a parent only waits for
// its children, so it is not one of them.
func TestSlowestTests(t *testing.T) {
	var stream strings.Builder
	for i := range 12 {
		stream.WriteString(events(event{Action: "pass", Package: "m/a", Test: fmt.Sprintf("TestOf%d", i), Elapsed: float64(i)}))
	}
	stream.WriteString(events(event{Action: "run", Package: "m/a", Test: "TestParent"},
		event{Action: "pass", Package: "m/a", Test: "TestParent/child", Elapsed: 90},
		event{Action: "pass", Package: "m/a", Test: "TestParent", Elapsed: 90.5}, event{Action: "pass", Package: "m/a"}))
	got, _ := summarise(t, stream.String(), false)
	want := "slowest tests:\n   90.0s  m/a TestParent/child\n"
	for i := 11; i > 2; i-- {
		want += fmt.Sprintf("%7.1fs  m/a TestOf%d\n", float64(i), i)
	}
	if want += "took 1m1s, building included\n13 passed"; !strings.Contains(got, want) {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestOtherLinesPass(t *testing.T) {
	got, _ := summarise(t, "database ready\n{\"not\":\"an event\"}\n", false)
	if !strings.HasPrefix(got, "database ready\n{\"not\":\"an event\"}\n") {
		t.Errorf("lost a line:\n%s", got)
	}
}

// A line must show before the stream ends, or a long run looks dead.
func TestStreams(t *testing.T) {
	in, feed := io.Pipe()
	show, out := io.Pipe()
	s := newSummary(out)
	done := make(chan error, 1)
	go func() { done <- s.read(in) }()
	go func() {
		_, _ = io.WriteString(feed, events(
			event{Action: "output", Package: "m/a", Output: "ok  \tm/a\t0.1s\n"},
			event{Action: "pass", Package: "m/a"}))
	}()
	line := make([]byte, len("ok  \tm/a\t0.1s\n"))
	if _, err := io.ReadFull(show, line); err != nil {
		t.Fatal(err)
	}
	if string(line) != "ok  \tm/a\t0.1s\n" {
		t.Errorf("got %q", line)
	}
	if err := feed.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

func summarise(t *testing.T, stream string, ci bool) (string, bool) {
	t.Helper()
	var out strings.Builder
	s := newSummary(&out)
	if err := s.read(strings.NewReader(stream)); err != nil {
		t.Fatal(err)
	}
	ok := s.close(ci, "took 1m1s, building included")
	return out.String(), ok
}

func events(es ...event) string {
	var b strings.Builder
	for _, e := range es {
		data, err := json.Marshal(e)
		if err != nil {
			panic(err)
		}
		b.Write(append(data, '\n'))
	}
	return b.String()
}
