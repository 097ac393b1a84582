package workflows_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// cookbookPage is the guide whose recipes these are.
const cookbookPage = "../../docs/cookbook.md"

// kitchen is a world in which one recipe of the cookbook is run. It keeps what the
// commands printed, because the guide shows some of it.
type kitchen struct {
	*world
	said strings.Builder
}

// TestCookbook runs the recipes of docs/cookbook.md on one server with two agents, and its
// lab with a PC of its own. The recipe that needs Docker is run by TestContainers.
func TestCookbook(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.agent("web-1")
	w.agent("web-2")
	files, err := filepath.Glob(recipe("*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recipes: %v", err)
	}
	if said := w.weir(append([]string{"workflow", "lint"}, files...)...); strings.Contains(said, "warning") {
		t.Error(said)
	}
	for name, run := range map[string]func(k *kitchen){
		"postgres-backup": backup, "render-frames": renderFrames, "etl-partition": etlPartition, "eval-sweep": evalSweep, "release": release,
		"import-on-event": importOnEvent, "certificate": certificate, "patch-machines": patchMachines, "log-cleanup": logCleanup,
		"smoke": lab,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			own := *w
			own.t = t
			k := &kitchen{world: &own}
			run(k)
			k.shown(name)
		})
	}
}

// recipe is the file of a recipe.
func recipe(name string) string { return "./cookbook/" + name + ".yaml" }

// tool is a program that stands for one that is too large for a test.
func (k *kitchen) tool(name string) string {
	k.t.Helper()
	path, err := filepath.Abs(filepath.Join("cookbook", "tools", name))
	if err != nil {
		k.t.Fatal(err)
	}
	return path
}

// cook runs a command that must end with an exit code.
func (k *kitchen) cook(code int, args ...string) (said string) {
	k.t.Helper()
	said, got := k.try(args...)
	k.said.WriteString(said)
	if got != code {
		k.t.Fatalf("weir %s: exit code %d, want %d\n%s", strings.Join(args, " "), got, code, said)
	}
	return said
}

// run runs a recipe to its end and checks its tasks: lines of key, state and result.
func (k *kitchen) run(name string, code int, tasks string, params ...string) (job string) {
	k.t.Helper()
	args := []string{"run", recipe(name), "--watch"}
	for _, p := range params {
		args = append(args, "--param", p)
	}
	k.cook(code, args...)
	job = k.newest(name)
	k.tasks(job, tasks)
	return job
}

// tasks waits for the end of a job and checks its tasks.
func (k *kitchen) tasks(job, want string) {
	k.t.Helper()
	if _, tasks := k.ends(job); tasks != strings.TrimSpace(want) {
		k.t.Errorf("the tasks are\n%s\nwant\n%s", tasks, want)
	}
}

// begin makes a job of a recipe, and does not wait for it.
func (k *kitchen) begin(name string, params ...string) (job string) {
	k.t.Helper()
	args := []string{"run", recipe(name)}
	for _, p := range params {
		args = append(args, "--param", p)
	}
	k.cook(0, args...)
	return k.newest(name)
}

// waits waits until a step of a job stands at a gate.
func (k *kitchen) waits(job, step, gate string) {
	k.t.Helper()
	k.eventually(step+" waits", `select exists (select from weir.task where job = $1::uuid and key = $2 and gate::text = $3)`, job, step, gate)
}

// why is the answer of weir why, which must contain some words.
func (k *kitchen) why(of string, want ...string) {
	k.t.Helper()
	said := k.cook(0, "why", of)
	for _, words := range want {
		if !strings.Contains(said, words) {
			k.t.Errorf("why says\n%s\nwant %q in it", said, words)
		}
	}
}

// secret stores a secret.
func (k *kitchen) secret(name, value string) {
	k.t.Helper()
	cmd := exec.CommandContext(k.t.Context(), program, "secret", "set", name)
	cmd.Env = append(os.Environ(), k.env...)
	cmd.Stdin = strings.NewReader(value)
	if out, err := cmd.CombinedOutput(); err != nil {
		k.t.Fatalf("%v\n%s", err, out)
	}
}

// file writes a file of a folder, with the folders above it.
func (k *kitchen) file(folder, name, text string) {
	k.t.Helper()
	path := filepath.Join(folder, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		k.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		k.t.Fatal(err)
	}
}

// content is what a file has.
func (k *kitchen) content(path ...string) string {
	k.t.Helper()
	text, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		k.t.Fatal(err)
	}
	return string(text)
}

// files are the names in a folder.
func (k *kitchen) files(folder string) string {
	k.t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		k.t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}

// changed stores a recipe with other words at one place, as the next version.
func (k *kitchen) changed(name, old, with string) {
	k.t.Helper()
	text := k.content("cookbook", name+".yaml")
	if strings.Count(text, old) != 1 {
		k.t.Fatalf("%s has %q %d times", name, old, strings.Count(text, old))
	}
	k.weir("workflow", "apply", k.write(name+".yaml", strings.Replace(text, old, with, 1), 0o600))
}

// TestCookbookPage: every recipe has its section in the guide, and the other way round.
func TestCookbookPage(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(recipe("*"))
	if err != nil {
		t.Fatal(err)
	}
	var want, found []string
	for _, f := range files {
		want = append(want, strings.TrimSuffix(filepath.Base(f), ".yaml"))
	}
	page := readPage(t)
	for _, m := range regexp.MustCompile(`\(\.\./examples/workflows/cookbook/([a-z-]+)\.yaml\)`).FindAllStringSubmatch(page, -1) {
		found = append(found, m[1])
	}
	slices.Sort(found)
	if !slices.Equal(want, found) {
		t.Errorf("the guide has %v, the folder %v", found, want)
	}
	for _, name := range append(want, "smoke") {
		for _, part := range []string{"**Run it.**", "**Change it.**", "**What goes wrong.**", "```text\n"} {
			if !strings.Contains(section(t, name), part) {
				t.Errorf("the section of %s has no %q", name, part)
			}
		}
	}
}

func readPage(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(cookbookPage)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// section is the part of the guide about a recipe.
func section(t *testing.T, name string) string {
	t.Helper()
	for part := range strings.SplitSeq(readPage(t), "\n## ") {
		if strings.Contains(part, "/"+name+".yaml)") {
			return part
		}
	}
	t.Fatalf("%s has no section about %s", cookbookPage, name)
	return ""
}

// shown checks that each line which the guide shows as an answer was printed. In the
// guide … stands for any text.
func (k *kitchen) shown(name string) {
	k.t.Helper()
	blocks := regexp.MustCompile("(?s)```text\n(.*?)```").FindAllStringSubmatch(section(k.t, name), -1)
	for _, block := range blocks {
		for line := range strings.Lines(block[1]) {
			pattern := strings.ReplaceAll(regexp.QuoteMeta(strings.TrimSpace(line)), "…", ".*")
			if !regexp.MustCompile(`(?m)^\s*` + pattern + `\s*$`).MatchString(k.said.String()) {
				k.t.Errorf("the guide shows %q, which was not printed:\n%s", line, k.said.String())
			}
		}
	}
}
