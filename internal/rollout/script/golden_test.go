package script_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/rollout/script"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files again")

// compareGolden compares a text with the one that somebody has read.
func compareGolden(t *testing.T, file, got string) {
	t.Helper()
	if *rewrite {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; write it with -rewrite", err)
	}
	if got == string(want) {
		return
	}
	gotLines, wantLines := strings.Split(got, "\n"), strings.Split(string(want), "\n")
	for i := range gotLines {
		if i >= len(wantLines) || gotLines[i] != wantLines[i] {
			t.Fatalf("%s:%d: got\n%s\nlook at what changed, then run with -rewrite", file, i+1, gotLines[i])
		}
	}
	t.Fatalf("%s has %d lines more", file, len(wantLines)-len(gotLines))
}

// inputs are the files of a folder, by name.
func inputs(t *testing.T, pattern string, least int) []string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) < least {
		t.Fatalf("%s: %d files, %v", pattern, len(files), err)
	}
	return files
}

func readFile(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestSplitGolden keeps what is read from each script: statements with their
// place, tag, locks and probe, and the steps they make.
func TestSplitGolden(t *testing.T) {
	for _, engine := range []script.Engine{script.Postgres, script.MySQL} {
		t.Run(string(engine), func(t *testing.T) {
			var out strings.Builder
			for _, file := range inputs(t, "testdata/split/"+string(engine)+"/*.sql", 30) {
				sql := readFile(t, file)
				fmt.Fprintf(&out, "=== %s\n", filepath.Base(file))
				describe(t, &out, engine, sql)
			}
			compareGolden(t, "testdata/split-"+string(engine)+".golden", out.String())
		})
	}
}

func describe(t *testing.T, out *strings.Builder, engine script.Engine, sql string) {
	t.Helper()
	statements, err := script.Split(engine, sql)
	if err != nil {
		writeFault(t, out, err)
		return
	}
	checkCover(t, engine, sql, statements)
	for _, s := range statements {
		alone := ""
		if s.Alone {
			alone = " alone"
		}
		fmt.Fprintf(out, "%d  %d-%d %s (%s%s): %s\n", s.Index, s.Line, s.EndLine, s.Tag, s.Kind, alone, strings.ReplaceAll(strings.ReplaceAll(s.Text, "\r", "␍"), "\n", "⏎"))
		for _, l := range s.Locks {
			fmt.Fprintf(out, "     locks %s: %s, blocks %s\n", l.Object, l.Mode, l.Blocks)
		}
		if p := s.Probe; p != nil {
			fmt.Fprintf(out, "     probe %s schema=%q name=%q table=%q value=%q gone=%t drop=%q\n", p.What, p.Schema, p.Name, p.Table, p.Value, p.Gone, p.Drop)
		}
	}
	for _, transaction := range []bool{true, false} {
		if !transaction && len(statements) < 3 {
			continue
		}
		steps, err := script.Steps(engine, script.Change{File: "x.sql", SQL: sql, Transaction: transaction})
		if err != nil {
			writeFault(t, out, err)
			continue
		}
		fmt.Fprintf(out, "steps (transaction=%t):", transaction)
		for _, step := range steps {
			fmt.Fprintf(out, " %s", stepText(step))
		}
		out.WriteString("\n")
	}
}

// stepText is [0 1] for a transaction, 2! for a statement outside of one, and
// after = the statements that a resumed run repeats.
func stepText(step script.Step) string {
	list := func(s []script.Statement) string {
		var words []string
		for i := range s {
			words = append(words, fmt.Sprint(s[i].Index))
		}
		return strings.Join(words, " ")
	}
	text := "[" + list(step.Statements) + "]"
	if !step.Transaction {
		text = list(step.Statements) + "!"
	}
	if len(step.Session) > 0 {
		text += "=" + list(step.Session)
	}
	return text
}

func writeFault(t *testing.T, out *strings.Builder, err error) {
	t.Helper()
	var fault *script.Fault
	if !errors.As(err, &fault) || fault.What == "" || fault.Next == "" {
		t.Errorf("not a fault with advice: %v", err)
	}
	fmt.Fprintf(out, "FAULT %v\n", err)
}

// checkCover proves that nothing between two statements would have run.
func checkCover(t *testing.T, engine script.Engine, sql string, statements []script.Statement) {
	t.Helper()
	var delimiters []string
	for _, m := range delimiterLine.FindAllStringSubmatch(sql, -1) {
		delimiters = append(delimiters, m[1])
	}
	at := 0
	for i, s := range statements {
		if s.Index != i || s.Offset < at || s.Offset+len(s.Text) > len(sql) || sql[s.Offset:s.Offset+len(s.Text)] != s.Text {
			t.Fatalf("%s: statement %d is not at its place: %+v", engine, i, s)
		}
		if s.Line != strings.Count(sql[:s.Offset], "\n")+1 || strings.TrimSpace(s.Text) == "" {
			t.Fatalf("%s: statement %d: line %d, text %q", engine, i, s.Line, s.Text)
		}
		checkGap(t, engine, sql[at:s.Offset], delimiters)
		at = s.Offset + len(s.Text)
	}
	checkGap(t, engine, sql[at:], delimiters)
}

var delimiterLine = regexp.MustCompile(`(?im)^[ \t]*delimiter[ \t]+(\S+)`)

// checkGap allows white space, comments, delimiters and the lines that set them.
func checkGap(t *testing.T, engine script.Engine, gap string, delimiters []string) {
	t.Helper()
	rest := gap
	cut := func(delimiter string) bool { return strings.HasPrefix(rest, delimiter) }
	for rest != "" {
		switch {
		case strings.ContainsAny(rest[:1], " \t\r\n\f\v;"):
			rest = rest[1:]
		case strings.HasPrefix(rest, "--"), engine == script.MySQL && rest[0] == '#':
			_, rest, _ = strings.Cut(rest, "\n")
		case strings.HasPrefix(rest, "/*") && engine == script.MySQL:
			_, rest, _ = strings.Cut(rest, "*/")
		case strings.HasPrefix(rest, "/*"):
			rest = behindNested(rest)
		case engine == script.MySQL && delimiterLine.MatchString(firstLine(rest)):
			_, rest, _ = strings.Cut(rest, "\n")
		case engine == script.MySQL && slices.ContainsFunc(delimiters, cut):
			rest = rest[len(delimiters[slices.IndexFunc(delimiters, cut)]):]
		default:
			t.Fatalf("%s: %q is in no statement", engine, gap)
		}
	}
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

func behindNested(s string) string {
	depth := 0
	for i := 0; i+1 < len(s); i++ {
		if s[i:i+2] == "/*" {
			depth++
			i++
		} else if s[i:i+2] == "*/" {
			i++
			if depth--; depth == 0 {
				return s[i+1:]
			}
		}
	}
	return ""
}
