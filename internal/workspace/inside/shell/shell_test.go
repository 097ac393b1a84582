package shell_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/workspace/inside/shell"
)

// run gives a script to a shell without a terminal. It returns what is printed, and the code.
func run(t *testing.T, script string) (string, int) {
	t.Helper()
	// A file: the shell and its commands read from it in turn.
	in, typed, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	_, err = typed.WriteString(script)
	if err := errors.Join(err, typed.Close()); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	code, err := shell.Run(t.Context(), in, &out, &out)
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), code
}

func TestShell(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("PATH", "/nowhere") // as in an image with nothing in it
	for name, test := range map[string]struct {
		lines []string
		want  string
	}{
		"files":          {[]string{"echo one > a", "echo two >> a", "cat a"}, "one\ntwo\n"},
		"folders":        {[]string{"mkdir -p d/e", "echo x > d/e/f", "ls d", "ls d/e"}, "e\nf\n"},
		"several lines":  {[]string{"for i in 1 2; do", "echo $i", "done"}, "1\n2\n"},
		"pipes":          {[]string{"echo piped | cat"}, "piped\n"},
		"what follows":   {[]string{"read word", "typed", "echo got $word"}, "got typed\n"},
		"copy and move":  {[]string{"echo x > p; cp p q; mv q r; cat r; rm p r; ls"}, "x\n"},
		"copy a folder":  {[]string{"mkdir m; echo y > m/n; cp -r m o; cat o/n; rm -r m o; ls"}, "y\n"},
		"hidden":         {[]string{"touch .h; ls; ls -a; rm .h"}, ".h\n"},
		"an error":       {[]string{"cat nothing || echo failed"}, "cat: open $DIR/nothing: no such file or directory\nfailed\n"},
		"no such thing":  {[]string{"gcc; echo $?"}, "\"gcc\": executable file not found in $PATH\n127\n"},
		"no such option": {[]string{"rm -x y || echo failed"}, "rm: there is no option -x here\nfailed\n"},
		"a folder stays": {[]string{"mkdir k; rm k || rm -r k"}, "rm: k is a folder: use rm -r\n"},
		"forced":         {[]string{"rm -f nothing && echo fine"}, "fine\n"},
		"exit":           {[]string{"echo before; exit 3", "echo after"}, "before\n"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			t.Chdir(dir)
			got, _ := run(t, strings.Join(test.lines, "\n")+"\n")
			if want := strings.ReplaceAll(test.want, "$DIR", dir); got != want {
				t.Errorf("%q, and not %q", got, want)
			}
		})
	}
}

// Without a terminal it is like any sh: no prompt, and the code says how it went.
func TestCodes(t *testing.T) {
	t.Chdir(t.TempDir())
	for script, want := range map[string]struct {
		printed string
		code    int
	}{
		"":                              {"", 0},
		"true\n":                        {"", 0},
		"false\n":                       {"", 1},
		"false":                         {"", 1},
		"false\n\n# nothing\n":          {"", 1},
		"false; true\n":                 {"", 0},
		"exit 5\necho after\n":          {"", 5},
		"false\nexit\n":                 {"", 1},
		"nosuchprogram 2>/dev/null\n":   {"", 127},
		"nosuchprogram 2>/dev/null\n:":  {"", 0},
		"sh -c 'kill -9 $$'\n":          {"", 137},
		"sh -c 'kill -15 $$'\n":         {"", 143},
		"sh -c 'exit 9'\n":              {"", 9},
		"echo one\n)\necho two\n":       {"", 2},
		"if true; then\necho x\n":       {"", 2},
		"set -e\nfalse\necho after\n":   {"", 1},
		"trap 'echo bye' EXIT\nfalse\n": {"bye\n", 1},
		"(exit 3)\necho $?\n":           {"3\n", 0},
	} {
		got, code := run(t, script)
		if want.code == 2 { // what it says of the syntax is its own
			if !strings.Contains(got, ":1: ") || strings.Contains(got, "two") || strings.Contains(got, "$ ") {
				t.Errorf("%q printed %q", script, got)
			}
		} else if got != want.printed {
			t.Errorf("%q printed %q, and not %q", script, got, want.printed)
		}
		if code != want.code {
			t.Errorf("%q ended with %d, and not %d", script, code, want.code)
		}
	}
}

// A program that is there comes before ours of the same name.
func TestProgramsOfTheImage(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "cat"), []byte("#!/bin/sh\necho another cat\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	if got, _ := run(t, "cat x\n"); got != "another cat\n" {
		t.Errorf("%q", got)
	}
}
