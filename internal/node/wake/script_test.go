package wake

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/problem"
)

// folder returns an operator's folder of scripts.
func folder(t *testing.T, scripts map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o755); err != nil { // #nosec G302 -- as an operator has it
		t.Fatal(err)
	}
	for name, text := range scripts {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text), 0o700); err != nil { // #nosec G306 -- a script is run
			t.Fatal(err)
		}
	}
	return dir
}

// TestScript runs a real script: it gets the node and the words as arguments and nothing
// of the server's environment, and its output is in the timeline.
func TestScript(t *testing.T) {
	t.Setenv("WEIR_DATABASE_URL", "postgres://secret")
	r := start(t)
	seen := filepath.Join(t.TempDir(), "seen")
	dir := folder(t, map[string]string{"wake.sh": `{ echo "$0|$#|$1|$2|$3"; pwd; env; } > ` + seen + `; printf 'power \033[31mon\000\n'`})
	w := New(r.Pool, Config{Scripts: dir})
	r.sleeper("gpu-1", `{}`, `{"renderer": 2}`)
	if err := w.SetWake(t.Context(), "ann", "gpu-1", Method{Kind: Script, Script: "wake.sh", Args: []string{"rack/7", "$(id)"}}); err == nil {
		t.Error("an argument with a command in it passes")
	}
	if err := w.SetWake(t.Context(), "ann", "gpu-1", Method{Kind: Script, Script: "wake.sh", Args: []string{"rack/7", "a=b"}}); err != nil {
		t.Fatal(err)
	}
	if err := w.Wake(t.Context(), "ann", "gpu-1"); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(seen) // #nosec G304 -- the test made it
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	if want := filepath.Join(dir, "wake.sh") + "|3|gpu-1|rack/7|a=b"; lines[0] != want || lines[1] != dir {
		t.Errorf("it was called as %q in %q, want %q", lines[0], lines[1], want)
	}
	if strings.Contains(string(text), "secret") || !strings.Contains(string(text), "WEIR_NODE=gpu-1\n") || !strings.Contains(string(text), "WEIR_TRY=1\n") {
		t.Errorf("its environment is\n%s", text)
	}
	if got := r.events("gpu-1")[2]; got != "wake_called: power [31mon" {
		t.Errorf("the event says %q", got)
	}
}

// TestScriptFails checks that the output of a failing script is recorded, and that a
// hanging script is killed with every process that it started.
func TestScriptFails(t *testing.T) {
	t.Parallel()
	r := start(t)
	pid := filepath.Join(t.TempDir(), "pid")
	dir := folder(t, map[string]string{
		"bad":   "echo no such outlet >&2; exit 3",
		"hangs": "sleep 1000 & echo $! > " + pid + "; wait",
		"loud":  "yes weir | head -c 100000; exit 1",
	})
	w := New(r.Pool, Config{Scripts: dir})
	for _, name := range []string{"bad", "loud"} {
		r.sleeper(name, `{}`, `{}`)
		if err := w.SetWake(t.Context(), "ann", name, Method{Kind: Script, Script: name}); err != nil {
			t.Fatal(err)
		}
		if err := w.Wake(t.Context(), "ann", name); err == nil || !strings.Contains(err.Error(), "exit status") {
			t.Errorf("%s: %v", name, err)
		}
		r.wantEvents(name, "wake_set", "waking", "wake_failed")
	}
	if got := one[string](r, `select concat_ws('|', level, message, data ->> 'output', data ->> 'try', data ->> 'method') from weir.events where type = 'wake_failed' and subject = 'bad'`); got != "warn|script bad: exit status 3|no such outlet|1|script" {
		t.Errorf("the event is %s", got)
	}
	if n := one[int](r, `select length(data ->> 'output') from weir.events where type = 'wake_failed' and subject = 'loud'`); n < 1000 || n > outputLimit {
		t.Errorf("%d characters of a loud script are kept", n)
	}
	if got := one[string](r, `select wake_state || ' ' || wake_note from weir.node where name = 'bad'`); got != "asleep script bad: exit status 3" {
		t.Errorf("the node is %s", got)
	}

	r.sleeper("hangs", `{}`, `{}`)
	hasty := New(r.Pool, Config{Scripts: dir, Patience: 500 * time.Millisecond})
	if err := hasty.SetWake(t.Context(), "ann", "hangs", Method{Kind: Script, Script: "hangs"}); err != nil {
		t.Fatal(err)
	}
	if err := hasty.Wake(t.Context(), "ann", "hangs"); err == nil || !strings.Contains(err.Error(), "in time") {
		t.Errorf("a script that hangs: %v", err)
	}
	text, err := os.ReadFile(pid) // #nosec G304 -- the test made it
	if err != nil {
		t.Skipf("SKIPPED: this machine was too busy to start the script within its patience: %v", err)
	}
	child, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	r.until("the script's child is gone", func() bool {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", child))
		return errors.Is(syscall.Kill(child, 0), syscall.ESRCH) || err == nil && strings.Contains(string(stat), ") Z ")
	})
}

// badNames are names of scripts that are paths, commands or worse.
var badNames = []string{
	"", ".", "..", "../wake.sh", "a/../wake.sh", "/bin/sh", "sub/wake.sh", ".hidden", "-rf", "wake.sh\x00", "wake.sh\n", "wake sh", "wake.sh;id", "$(id)", "`id`", "wake.sh|id", "wake..sh",
	"wake\\sh", "%2e%2e", "ｗake", "wake.sh ", strings.Repeat("a", 65),
}

// TestScriptNames checks that Go and SQL refuse everything that is not a plain name of a
// file that only the operator can change.
func TestScriptNames(t *testing.T) {
	t.Parallel()
	r := start(t)
	dir := folder(t, map[string]string{"wake.sh": "exit 0", "plain": "", "open": "", "theirs": ""})
	w := New(r.Pool, Config{Scripts: dir})
	r.sleeper("n", `{}`, `{}`)
	for _, name := range badNames {
		err := w.SetWake(t.Context(), "ann", "n", Method{Kind: Script, Script: name})
		if p := new(problem.Problem); !errors.As(err, &p) || p.Field != "script" || p.Next == "" {
			t.Errorf("%q: %v", name, err)
		}
		if name == "wake..sh" || strings.Contains(name, "\x00") {
			continue // harmless as a row, because the server checks again; and no text has a zero byte
		}
		if _, err := r.Pool.Exec(t.Context(), `select weir.set_wake('n', 'script', jsonb_build_object('script', $1::text))`, name); err == nil {
			t.Errorf("the database takes %q", name)
		}
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.Symlink("/bin/sh", filepath.Join(dir, "link")))
	must(os.Mkdir(filepath.Join(dir, "sub"), 0o700))
	must(os.Chmod(filepath.Join(dir, "plain"), 0o600))
	must(os.Chmod(filepath.Join(dir, "open"), 0o777)) // #nosec G302 -- it is to be refused
	names := []string{"link", "sub", "plain", "open", "missing"}
	if os.Getuid() == 0 {
		must(os.Chown(filepath.Join(dir, "theirs"), 12345, 0))
		names = append(names, "theirs")
	}
	for _, name := range names {
		if err := w.Check(Method{Kind: Script, Script: name}); err == nil {
			t.Errorf("%q passes", name)
		}
		// A row that was written by hand is refused too.
		r.exec(`select weir.set_wake('n', 'script', jsonb_build_object('script', $1::text))`, name)
		if err := w.Wake(t.Context(), "ann", "n"); err == nil {
			t.Errorf("%q is run", name)
		}
	}
	if err := w.Check(Method{Kind: Script, Script: "wake.sh"}); err != nil {
		t.Errorf("a good one: %v", err)
	}
	must(os.Chmod(dir, 0o777)) // #nosec G302 -- it is to be refused
	if err := w.Check(Method{Kind: Script, Script: "wake.sh"}); err == nil {
		t.Error("a folder that everybody may write passes")
	}
	if err := New(r.Pool, Config{}).Check(Method{Kind: Script, Script: "wake.sh"}); err == nil {
		t.Error("a server without a folder runs scripts")
	}
}

// FuzzScriptName checks that an accepted name is one file directly in the folder.
func FuzzScriptName(f *testing.F) {
	for _, name := range badNames {
		f.Add(name)
	}
	f.Add("wake.sh")
	dir := f.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "wake.sh"), []byte("#!/bin/sh\n"), 0o700); err != nil { // #nosec G306 -- a script is run
		f.Fatal(err)
	}
	w := New(nil, Config{Scripts: dir})
	f.Fuzz(func(t *testing.T, name string) {
		file, err := w.script(Method{Script: name})
		if err == nil && (filepath.Dir(file) != dir || filepath.Base(file) != name || name != "wake.sh") {
			t.Errorf("%q is %s", name, file)
		}
	})
}
