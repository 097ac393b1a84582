package device

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/testwait"
)

func TestFileSaysWhatThereIs(t *testing.T) {
	got, err := parseYAML("devices.yaml", []byte(`
devices:
  - {serial: B2, target: "192.168.1.20:5555", hub: hub-1, labels: &phone {model: pixel-7, tag: smoke}}
  - A1
  - serial: 0123
    labels: *phone
`))
	if err != nil {
		t.Fatal(err)
	}
	if s := serials(got.Devices); s != "0123@ A1@ B2@192.168.1.20:5555" {
		t.Errorf("got %s", s)
	}
	if d := got.Devices[0]; d.Labels["model"] != "pixel-7" || got.Devices[2].Hub != "hub-1" {
		t.Errorf("got %+v", got.Devices)
	}
	if got, err := parseYAML("x", []byte("devices: []\n")); err != nil || len(got.Devices) != 0 {
		t.Errorf("no devices: %v, %v", got, err)
	}
	if got, err := parseYAML("x", []byte("- A1\n- A2\n")); err != nil || len(got.Devices) != 2 {
		t.Errorf("a list alone: %v, %v", got, err)
	}
}

// Each error names its line, its field and what to do.
func TestFaultsOfAFile(t *testing.T) {
	for text, want := range map[string]string{
		"":                                 "x: devices: the file is empty",
		"devices: A1\n":                    "x:1: devices: expected a list of devices",
		"device: [A1]\n":                   "x:1: device: there is no such field here",
		"devices:\n  - serial: A1\n  - A1": "x:3: devices[1].serial: A1 stands in line 2 already",
		"devices:\n  - {serial: A1}\n  - serail: A2\n":           "x:3: devices[1].serail: there is no such field",
		"devices:\n  - target: a\n":                              "x:2: devices[0].serial: a device has no serial",
		"devices:\n  - serial: A1\n    target: -rf\n":            `x:3: devices[0].target: "-rf" is no target`,
		"devices:\n  - serial: A1\n    serial: A2\n":             "x:3: devices[0].serial: it stands in line 2 already",
		"devices:\n  - serial: \"A 1; rm\"\n":                    `x:2: devices[0].serial: "A 1; rm" is no serial`,
		"devices:\n  - serial: A1\n    labels: smoke\n":          "x:3: devices[0].labels: expected names and values",
		"devices:\n  - serial: A1\n    labels:\n      a: [b]\n":  "x:4: devices[0].labels.a: the value of a label is text",
		"devices:\n  - serial: A1\n    labels: {a: \"\\x07\"}\n": `x:3: devices[0].labels.a: "\a" is no value of a label`,
		"devices:\n  - serial: A1\n    hub:\n":                   "x:3: devices[0].hub: expected text",
		"devices:\n  - [A1]\n":                                   "x:2: devices[0]: expected a device",
		"devices: [A1\n":                                         "x:1: it is no YAML: did not find expected ',' or ']'",
	} {
		got, err := parseYAML("x", []byte(text))
		if err == nil {
			t.Errorf("%q gives %v", text, got)
			continue
		}
		if p := problem.Explain(err); p.What != want || p.Next == "" {
			t.Errorf("%q:\n%s (%s)\nnot\n%s", text, p.What, p.Next, want)
		}
	}
}

// A file that is broken, or missing for a moment, is an error and not an empty listing.
func TestFileIsReadAgainWhenItChanges(t *testing.T) {
	path := filepath.Join(t.TempDir(), "devices.yaml")
	write(t, path, "devices: [A1]\n", 0o600)
	source, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	expect := func(want string) {
		t.Helper()
		got, err := source.List(t.Context())
		if want == "unknown" {
			if err == nil {
				t.Errorf("got %v", got)
			}
			return
		}
		if err != nil || serials(got.Devices) != want {
			t.Errorf("got %s, %v, not %s", serials(got.Devices), err, want)
		}
	}
	expect("A1@")
	write(t, path, "devices: [A2]\n", 0o600) // of the same size, within the resolution of the clock
	expect("A2@")
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
	expect("A2@")
	expect("A2@")
	write(t, path, "devices: [A1, A2\n", 0o600)
	expect("unknown")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	expect("unknown")
	write(t, path, "devices: [A1, A2]\n", 0o600)
	expect("A1@ A2@")
}

func TestOpenTellsFilesFromCommands(t *testing.T) {
	dir := t.TempDir()
	list, program := filepath.Join(dir, "my devices"), filepath.Join(dir, "list-devices")
	write(t, list, "devices: [A1]\n", 0o600)
	write(t, program, "#!/bin/sh\necho \"$1\"\necho \"$2\"\n", 0o755)
	for text, want := range map[string]string{
		list:                      "A1@",
		program + " B1 'B2'":      "B1@ B2@",
		program + ` "C1"  C''2`:   "C1@ C2@",
		"  " + program + " D1 \t": "D1@",
	} {
		source, err := Open(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got, err := source.List(t.Context()); err != nil || serials(got.Devices) != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		"":                           "no source of devices is given",
		filepath.Join(dir, "x.yaml"): "there is no file " + filepath.Join(dir, "x.yaml"),
		"no-such-program --list":     "there is no program no-such-program in PATH",
		program + " 'A1":             "a quote ' is not closed",
		dir:                          dir + " is a folder",
	} {
		if _, err := Open(text); err == nil || !strings.Contains(problem.Explain(err).What, want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestLinesOfACommand(t *testing.T) {
	got, err := parseLines([]byte("{\"serial\": \"A1\", \"target\": \"10.0.0.1:5555\", \"hub\": \"h\", \"labels\": {\"model\": \"x\"}}\n\n  B2  \r\n"))
	if err != nil || serials(got.Devices) != "A1@10.0.0.1:5555 B2@" {
		t.Errorf("got %v, %v", got, err)
	}
	if got, err := parseLines(nil); err != nil || len(got.Devices) != 0 {
		t.Errorf("nothing is an empty list: %v, %v", got, err)
	}
	for text, want := range map[string]string{
		"A1\n{\"serial\": \"A2\"": "line 2: it is no device: unexpected EOF",
		"{\"serial\": \"A2\"} {}": "line 1: it is no device: something follows it",
		"{\"serail\": \"A2\"}":    `line 1: it is no device: unknown field "serail"`,
		"{}":                      "line 1: serial: a device has no serial",
		"A1\nA1\n":                "A1 is there twice",
		"usage: list [--all]":     `line 1: serial: "usage: list [--all]" is no serial`,
		strings.Repeat("A", 200):  "line 1: serial:",
		"{\"serial\": [\"A2\"]}":  "line 1: it is no device: cannot unmarshal array",
		numbered(1001):            "1001 devices are more than the 1000",
	} {
		if got, err := parseLines([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v, %v", text, len(got.Devices), err)
		}
	}
}

func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("D" + strconv.Itoa(i) + "\n")
	}
	return b.String()
}

// A command that fails, hangs or prints without end is an error, whatever it printed
// before.
func TestACommandThatFails(t *testing.T) {
	dir := t.TempDir()
	pid := filepath.Join(dir, "pid")
	for script, want := range map[string]string{
		"echo A1; echo 'no lab today' >&2; exit 3":              "exit status 3: no lab today",
		"while :; do echo A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1; done": "did not end within",
		"yes A1 | head -c 2000000":                              "printed more than 1048576 bytes",
		"echo A1; sleep 300 & echo $! >" + pid + "; wait":       "did not end within",
	} {
		source, err := OpenCommand([]string{"/bin/sh", "-c", script})
		if err != nil {
			t.Fatal(err)
		}
		source.run.within = 2 * time.Second
		if got, err := source.List(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v", script, len(got.Devices), err)
		}
	}
	text, err := os.ReadFile(pid)
	if err != nil {
		t.Fatal(err)
	}
	child, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	testwait.Until(t, "the child of the command ends", func() bool { return !alive(child) })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	source, err := OpenCommand([]string{"/bin/true"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := source.List(ctx); err == nil {
		t.Error("an end of ctx is no empty list")
	}
}

// alive reports whether a process runs; a process that only waits to be reaped does not.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z")
}

func FuzzParseLines(f *testing.F) {
	f.Add([]byte("A1\n{\"serial\": \"A2\"}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := parseLines(text)
		checkListing(t, got, err)
	})
}

func FuzzParseYAML(f *testing.F) {
	f.Add([]byte("devices:\n  - {serial: A1, labels: &x {a: b}}\n  - {serial: A2, labels: *x}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := parseYAML("x", text)
		checkListing(t, got, err)
	})
}

func checkListing(t *testing.T, got Listing, err error) {
	t.Helper()
	if err != nil {
		if len(got.Devices) > 0 {
			t.Errorf("an error and devices: %v", got)
		}
		return
	}
	last := ""
	for _, d := range got.Devices {
		if d.Check() != nil || d.Serial <= last {
			t.Errorf("got %+v after %s", d, last)
		}
		last = d.Serial
	}
}
