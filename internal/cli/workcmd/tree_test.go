package workcmd

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/engine/view"
)

func itoa(n int) string { return strconv.Itoa(n) }

// film is a job in the middle of its work.
func film(now time.Time) jobPage {
	id := func(n byte) weir.ID { return weir.ID{15: n} }
	half := 50.0
	return jobPage{
		Job: view.Job{Name: "The Weir\x1b[2J", State: "running", Total: 5, Done: 1, Progress: 0.2, CreatedAt: now.Add(-8 * time.Second)},
		Tasks: []view.Task{
			{ID: id(1), Key: "probe", State: "done", StartedAt: now.Add(-8 * time.Second), FinishedAt: now.Add(-6 * time.Second)},
			{ID: id(2), Key: "1080p", State: "running", Needs: []weir.ID{id(1)}, Percent: &half, StartedAt: now.Add(-5 * time.Second)},
			{ID: id(3), Key: "pictures", State: "pending", Gate: "time", Needs: []weir.ID{id(1)}},
			{ID: id(4), Key: "package", State: "pending", Gate: "needs", Needs: []weir.ID{id(2), id(3)}},
			{ID: id(5), Service: "mail", State: "failed", Cause: "no\npaper"},
		},
	}
}

func TestDrawJob(t *testing.T) {
	now := time.Now()
	o := &command.Output{Now: now, Terminal: true, Width: 80, Format: "table"}
	got := strings.Join(drawJob(o, film(now), 20), "\n")
	want := strings.TrimSpace(`
The Weir  running  1/5  8.0s  ████░░░░░░░░░░░░░░░░
  ✓ probe        done       2.0s
    ● 1080p      running    ██████████░░░░░░░░░░  50%  5.0s
    ○ pictures   pending    waits for its time
      ○ package  pending    waits for what it needs
  ✗ mail         failed     no paper`)
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Why a task waits stands beside it, and why a queued job does below its name.
func TestDrawJobSaysWhy(t *testing.T) {
	now := time.Now()
	o := &command.Output{Now: now, Terminal: true, Width: 80, Format: "table"}
	page := film(now)
	page.why = map[weir.ID]string{page.Tasks[2].ID: "retries in 4 s", page.Tasks[3].ID: ""}
	text := strings.Join(drawJob(o, page, 20), "\n")
	if !strings.Contains(text, "pictures   pending    retries in 4 s") || !strings.Contains(text, "package  pending    waits for what it needs") {
		t.Errorf("got\n%s", text)
	}
	queued := jobPage{Job: view.Job{Name: "later", State: "queued", CreatedAt: now}, waits: []string{"due in 5 m", strings.Repeat("long ", 40)}}
	lines := drawJob(o, queued, 20)
	if len(lines) != 3 || lines[1] != "  due in 5 m" || command.Cells(lines[2]) > o.Width {
		t.Errorf("got\n%s", strings.Join(lines, "\n"))
	}
}

// A tree never is wider or higher than its terminal; what works is shown first.
func TestDrawJobFits(t *testing.T) {
	now := time.Now()
	page := film(now)
	for i := range 100 {
		page.Tasks = append(page.Tasks, view.Task{ID: weir.ID{0: 1, 15: byte(i)}, Key: strings.Repeat("긴 이름 ", 20), State: "done", StartedAt: now, FinishedAt: now})
	}
	for _, width := range []int{60, 80, 200} {
		o := &command.Output{Now: now, Terminal: true, Width: width, Format: "table"}
		lines := drawJob(o, page, 10)
		if len(lines) > 10 {
			t.Errorf("%d lines", len(lines))
		}
		for _, line := range lines {
			if n := command.Cells(line); n > width {
				t.Errorf("%d cells in a terminal of %d: %s", n, width, line)
			}
		}
		text := strings.Join(lines, "\n")
		if !strings.Contains(text, "1080p") || !strings.Contains(text, "more") {
			t.Errorf("got\n%s", text)
		}
	}
}

// The job of a step that is a workflow is drawn below it, however deep, and items
// below their step; many of them share its line, but for what failed. A chain goes
// straight down.
func TestDrawJobNested(t *testing.T) {
	now := time.Now()
	o := &command.Output{Now: now, Terminal: true, Width: 90, Format: "table"}
	id := func(n byte) weir.ID { return weir.ID{15: n} }
	waits := view.Task{State: "pending", Gate: "plan"}
	step := func(n byte, key string) view.Task { t := waits; t.ID, t.Key = id(n), key; return t }
	inner := &jobPage{Job: view.Job{ID: id(92), State: "queued", Total: 0}}
	child := &jobPage{
		Job:      view.Job{ID: id(91), State: "running", Total: 4, Done: 1, Progress: 0.25},
		Tasks:    []view.Task{{ID: id(21), Key: "upload", State: "running", StartedAt: now.Add(-3 * time.Second)}, step(22, "notify")},
		children: map[weir.ID]*jobPage{id(22): inner},
	}
	ended := &jobPage{Job: view.Job{ID: id(93), State: "done", Total: 2, Done: 2, Progress: 1, FinishedAt: now}}
	page := jobPage{
		Job: view.Job{Name: "film", State: "running", Total: 20, Done: 8, Progress: 0.4, CreatedAt: now.Add(-8 * time.Second)},
		Tasks: []view.Task{
			step(1, "publish"),
			{ID: id(2), Key: "archive", State: "done"},
			step(3, "few"), step(5, "many"),
			{ID: id(6), Key: "join", State: "pending", Gate: "needs", Needs: []weir.ID{id(5)}},
			{ID: id(4), Key: "few[0]", State: "pending", Gate: "plan"},
		},
		children: map[weir.ID]*jobPage{id(1): child, id(2): ended, id(4): inner},
	}
	for i := range byte(12) {
		state := "done"
		switch {
		case i == 3:
			state = "failed"
		case i > 6:
			state = "running"
		}
		page.Tasks = append(page.Tasks, view.Task{ID: id(40 + i), Key: "many[" + itoa(int(i)) + "]", State: weir.State(state), Cause: map[bool]string{true: "exit code 3"}[state == "failed"]})
	}
	got := strings.Join(drawJob(o, page, 30), "\n")
	want := strings.TrimSpace(`
film  running  8/20  8.0s  ████████░░░░░░░░░░░░
  ● publish    running    █████░░░░░░░░░░░░░░░  1/4  job 00000000005b
    ● upload   running    3.0s
    ○ notify   pending    job 00000000005c is queued
  ✓ archive    done       ████████████████████  2/2  job 00000000005d
  ○ few        pending    ░░░░░░░░░░░░░░░░░░░░  0/1 items: 1 pending
    ○ few[0]   pending    job 00000000005c is queued
  ● many       running    ████████████░░░░░░░░  7/12 items: 1 failed, 5 running, 6 done
    ✗ many[3]  failed     exit code 3
  ○ join       pending    waits for what it needs`)
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for text, want := range map[string]string{"a": "a", "a[0]": "a", "a[12]": "a", "a[x]": "a", "a[1.25,linux]": "a", "a[x y]": "a[x y]", "a[]": "a[]", "[0]": "[0]", "a[0]b": "a[0]b"} {
		if got := stem(text); got != want {
			t.Errorf("%s belongs to %s", text, got)
		}
	}
}
