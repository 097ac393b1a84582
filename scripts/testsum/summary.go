package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"
)

// event is one line of go test -json; see go doc test2json.
type event struct {
	Action      string
	Package     string
	ImportPath  string
	Test        string
	Output      string
	Elapsed     float64 // seconds
	FailedBuild string
}

// summary folds the stream. It keeps the output of tests that have not ended
// and drops that of tests that passed, so its memory is bounded by what runs.
type summary struct {
	out                     io.Writer
	passed, failed, skipped int
	open                    map[key]*run
	packages                map[string]*run
	builds                  map[string]string // compiler output by import path
	failures                []failure
	skips                   []string
	slow                    []timed // the slowest tests so far, slowest first
}

type key struct{ pkg, test string }

// timed is a test that has ended, and how long it took.
type timed struct {
	key
	seconds float64
}

// slowest is how many slow tests the report names.
const slowest = 10

// failure is what failed, and what it said.
type failure struct{ what, said string }

// run is a test or a package on its way.
type run struct {
	output strings.Builder
	// parent is set once a subtest began: the subtests are counted, not the parent.
	parent bool
	// failed is set once something below failed, so that the failure counts once.
	failed bool
}

func newSummary(out io.Writer) *summary {
	return &summary{out: out, open: map[key]*run{}, packages: map[string]*run{}, builds: map[string]string{}}
}

// read consumes the stream to its end. Lines that are no events, such as
// those of the program that wraps go test, pass through as they are.
func (s *summary) read(in io.Reader) error {
	r := bufio.NewReader(in)
	for {
		line, err := r.ReadString('\n')
		if line != "" {
			s.line(line)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (s *summary) line(line string) {
	var e event
	if err := json.Unmarshal([]byte(line), &e); err != nil || e.Action == "" {
		fmt.Fprint(s.out, line)
		return
	}
	switch {
	case e.Action == "build-output":
		s.builds[e.ImportPath] += e.Output
	case e.Package == "":
	case e.Test == "":
		s.packageEvent(e)
	default:
		s.testEvent(e)
	}
}

func (s *summary) packageEvent(e event) {
	p := s.pkg(e.Package)
	switch e.Action {
	case "output":
		p.output.WriteString(e.Output)
	case "pass", "skip":
		fmt.Fprint(s.out, verdict(p.output.String()))
		delete(s.packages, e.Package)
	case "fail":
		s.packageFailed(e, p)
		delete(s.packages, e.Package)
	}
}

// packageFailed prints what no test has printed: the compiler, TestMain, and
// the tests that were cut off by a panic or by the time limit.
func (s *summary) packageFailed(e event, p *run) {
	fmt.Fprint(s.out, s.builds[e.FailedBuild])
	s.cutOff(e.Package, p)
	fmt.Fprint(s.out, p.output.String())
	if !p.failed {
		s.fail(e.Package, s.builds[e.FailedBuild]+p.output.String())
	}
}

// cutOff fails the tests of a package that began and never ended.
func (s *summary) cutOff(pkg string, p *run) {
	var tests []string
	for k := range s.open {
		if k.pkg == pkg {
			tests = append(tests, k.test)
		}
	}
	sort.Strings(tests)
	for _, name := range tests {
		k := key{pkg, name}
		t := s.open[k]
		fmt.Fprint(s.out, t.output.String())
		if !t.parent {
			s.fail(pkg+" "+name+" (did not end)", t.output.String())
			p.failed = true
		}
		delete(s.open, k)
	}
}

func (s *summary) testEvent(e event) {
	k := key{e.Package, e.Test}
	t := s.open[k]
	if t == nil {
		t = &run{}
		s.open[k] = t
	}
	p := s.above(k)
	p.parent = true
	switch e.Action {
	case "output":
		if strings.HasPrefix(e.Output, "=== ") {
			return // RUN, PAUSE, CONT: the verdict says the name again
		}
		t.output.WriteString(e.Output)
		if _, text, ok := strings.Cut(e.Output, ": measured: "); ok {
			fmt.Fprintf(s.out, "      %s: %s\n", e.Test, strings.TrimSpace(text))
		}
		return
	case "pass":
		if !t.parent {
			s.passed++
		}
	case "skip":
		s.skipped++
		s.skips = append(s.skips, k.pkg+" "+k.test+": "+because(t.output.String()))
		fmt.Fprintf(s.out, "SKIP  %s\n", s.skips[len(s.skips)-1])
	case "fail":
		p.failed = true
		fmt.Fprint(s.out, t.output.String())
		if !t.failed {
			s.fail(k.pkg+" "+k.test, t.output.String())
		}
	default:
		return
	}
	if !t.parent {
		s.took(timed{k, e.Elapsed})
	}
	delete(s.open, k)
}

// took keeps a test if it is among the slowest.
func (s *summary) took(t timed) {
	at, _ := slices.BinarySearchFunc(s.slow, t, func(a, b timed) int { return cmp.Compare(b.seconds, a.seconds) })
	s.slow = slices.Insert(s.slow, at, t)
	s.slow = s.slow[:min(len(s.slow), slowest)]
}

// above is the test that k is a subtest of, or its package.
func (s *summary) above(k key) *run {
	if i := strings.LastIndexByte(k.test, '/'); i >= 0 {
		if t := s.open[key{k.pkg, k.test[:i]}]; t != nil {
			return t
		}
	}
	return s.pkg(k.pkg)
}

func (s *summary) pkg(name string) *run {
	if s.packages[name] == nil {
		s.packages[name] = &run{}
	}
	return s.packages[name]
}

func (s *summary) fail(what, said string) {
	s.failed++
	s.failures = append(s.failures, failure{what, said})
}

// close prints the end of the report, with a line on how long the run took, and says
// whether all is well.
func (s *summary) close(ci bool, took string) bool {
	for name, p := range s.packages {
		s.cutOff(name, p)
		fmt.Fprint(s.out, p.output.String())
		s.fail(name+" (ended without a verdict)", p.output.String())
	}
	s.times()
	fmt.Fprintln(s.out, took)
	// Said once more: of a long run people see the end.
	for _, f := range s.failures {
		fmt.Fprintf(s.out, "FAIL  %s\n%s", f.what, lastLines(f.said))
	}
	for _, f := range s.skips {
		fmt.Fprintf(s.out, "SKIP  %s\n", f)
	}
	ok := s.failed == 0
	if s.skipped > 0 && ci {
		fmt.Fprintln(s.out, "a skipped test is a failure when CI=true: install what it asks for")
		ok = false
	}
	if s.passed+s.failed == 0 {
		fmt.Fprintln(s.out, "no test ran")
		ok = false
	}
	fmt.Fprintf(s.out, "%d passed, %d failed, %d skipped\n", s.passed, s.failed, s.skipped)
	return ok
}

// times prints which tests took longest.
func (s *summary) times() {
	if len(s.slow) > 0 {
		fmt.Fprintln(s.out, "slowest tests:")
	}
	for _, t := range s.slow {
		fmt.Fprintf(s.out, "%7.1fs  %s %s\n", t.seconds, t.pkg, t.test)
	}
}

// verdict is the line that go test prints for a package.
func verdict(output string) string {
	for line := range strings.Lines(output) {
		if strings.HasPrefix(line, "ok  \t") || strings.HasPrefix(line, "?   \t") {
			return line
		}
	}
	return ""
}

// lastLines are the most recent lines of an output, indented.
func lastLines(output string) string {
	const most = 40
	lines := slices.Collect(strings.Lines(strings.TrimRight(output, "\n") + "\n"))
	var b strings.Builder
	if n := len(lines) - most; n > 0 {
		fmt.Fprintf(&b, "      (%d lines above)\n", n)
		lines = lines[n:]
	}
	for _, line := range lines {
		b.WriteString("      " + line)
	}
	return b.String()
}

// because is what a skipped test said, without the marks of go test.
func because(output string) string {
	var said []string
	for line := range strings.Lines(output) {
		text := strings.TrimSpace(line)
		if text != "" && !strings.HasPrefix(text, "--- ") {
			said = append(said, text)
		}
	}
	if len(said) == 0 {
		return "no reason given"
	}
	return strings.Join(said, " ")
}
