package blob_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/weirhq/weir/internal/blob"
)

func TestKeysAreReadable(t *testing.T) {
	const job = "01993f5c-1111-7abc-8def-0123456789ab"
	for _, want := range []struct {
		kind    blob.Kind
		task    string
		attempt int
		name    string
		key     string
	}{
		{blob.Output, "render[0]", 1, "frames/0001.png", "outputs/" + job + "/render[0]/1/frames/0001.png"},
		{blob.Input, "a", 12, "kép.txt", "inputs/" + job + "/a/12/kép.txt"},
		{blob.Log, "a/b", 1, "x", "logs/" + job + "/a%2Fb/1/x"},
		{blob.Output, "..", 1, "a b+c%.txt", "outputs/" + job + "/%2E%2E/1/a%20b%2Bc%25.txt"},
		{blob.Output, "t\n~", 0, "...", "outputs/" + job + "/t%0A%7E/0/..."},
	} {
		key, err := blob.Key(want.kind, job, want.task, want.attempt, want.name)
		if err != nil || key != want.key {
			t.Errorf("%s, want %s, %v", key, want.key, err)
		}
		p, ok := blob.Parse(key)
		if !ok || p.Kind != want.kind || p.Job != job || p.Task != want.task || p.Attempt != want.attempt || p.Name != want.name {
			t.Errorf("%s is %+v", key, p)
		}
	}
	if key := blob.LogKey(job, "a", 2, 17); key != "logs/"+job+"/a/2/00000017.jsonl" || !strings.HasPrefix(key, blob.Prefix(blob.Log, job, "a", 2)) {
		t.Error(key)
	}
	long := strings.Repeat("ű", 200)
	one, err := blob.Key(blob.Output, job, long+"1", 1, "x")
	two, err2 := blob.Key(blob.Output, job, long+"2", 1, "x")
	if err != nil || err2 != nil || one == two {
		t.Errorf("long keys of tasks: %s, %v, %v", one, err, err2)
	}
	if p, ok := blob.Parse(one); !ok || !p.Short || p.Job != job || p.Name != "x" {
		t.Errorf("%+v", p)
	}
	for _, bad := range []string{"", "/x", "x/", "a//b", "..", "a/../../b", ".", "a/.", "nul\x00", "tab\t", "bad\xff", strings.Repeat("n", 256), strings.Repeat("%", 100), strings.Repeat("a/", 600) + "a"} {
		if key, err := blob.Key(blob.Output, job, "a", 1, bad); err == nil {
			t.Errorf("%q became %s", bad, key)
		}
	}
	for _, bad := range []string{"", "outputs", "other/j/t/1/n", "outputs/j/t/x/n", "outputs/j/t/01/n", "outputs/j/t/1/", "outputs/j//1/n", "outputs/j/t/1/%", "outputs/j/t/1/%zz", "timeline/x.jsonl.zst"} {
		if p, ok := blob.Parse(bad); ok {
			t.Errorf("%q is %+v", bad, p)
		}
	}
}

// A key stays in its place, every bucket accepts it, and it parses back to its parts.
func FuzzKey(f *testing.F) {
	f.Add("01993f5c-1111-7abc-8def-0123456789ab", "render[0]", 1, "frames/0001.png")
	f.Add("-", "../..", 0, "..\\..\\x")
	f.Add("a/b", "~%2E\xff\x00", 7, "a/ /\u202e/é")
	f.Add("j", strings.Repeat("%", 300), 1, "...")
	f.Fuzz(func(t *testing.T, job, task string, attempt int, name string) {
		key, err := blob.Key(blob.Output, job, task, attempt, name)
		if err != nil {
			return
		}
		parts := strings.Split(key, "/")
		if len(key) > 1024 || len(parts) < 5 || parts[0] != "outputs" || !utf8.ValidString(key) {
			t.Fatalf("%q", key)
		}
		for _, p := range parts {
			if p == "" || p == "." || p == ".." || len(p) > 255 || strings.ContainsAny(p, "\x00\n\\?#+ ~") && !strings.Contains(p, "~") {
				t.Fatalf("%q has the part %q", key, p)
			}
		}
		if !strings.HasPrefix(key, blob.Prefix(blob.Output, job, task, attempt)) {
			t.Fatalf("%q has another prefix", key)
		}
		p, ok := blob.Parse(key)
		if !ok || p.Attempt != attempt || p.Name != name || !p.Short && p.Task != task || !strings.Contains(parts[1], "~") && p.Job != job {
			t.Fatalf("%q is %+v", key, p)
		}
	})
}

// A key belongs to the attempt whose place it is, and to no other.
func TestOwned(t *testing.T) {
	const job, task, other = "01890a5d-ac96-774b-bcce-b302099a8057", "01890a5d-ac96-774b-bcce-b302099a8058", "01890a5d-ac96-774b-bcce-b302099a8059"
	for key, want := range map[string]bool{
		"outputs/" + job + "/a/1/x":        true,
		"outputs/" + job + "/b%5B0%5D/1/x": true,
		"outputs/" + job + "/a/2/x":        false,
		"outputs/" + other + "/a/1/x":      false,
		"logs/" + job + "/a/1/x":           false,
		"outputs/-/" + task + "/1/x":       false,
		"timeline/events.jsonl.zst":        false,
		"outputs/" + job + "/a/1/":         false,
		"":                                 false,
	} {
		if got := blob.Owned(key, "output", job, task, 1); got != want {
			t.Errorf("%s: %v", key, got)
		}
	}
	if !blob.Owned("outputs/-/"+task+"/1/x", "output", "", task, 1) || blob.Owned("outputs/-/"+other+"/1/x", "output", "", task, 1) {
		t.Error("a task without a job")
	}
}
