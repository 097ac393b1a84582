package cli

import (
	"bytes"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir"
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
	o := &output{now: now, terminal: true, width: 80, format: "table"}
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
	o := &output{now: now, terminal: true, width: 80, format: "table"}
	page := film(now)
	page.why = map[weir.ID]string{page.Tasks[2].ID: "retries in 4 s", page.Tasks[3].ID: ""}
	text := strings.Join(drawJob(o, page, 20), "\n")
	if !strings.Contains(text, "pictures   pending    retries in 4 s") || !strings.Contains(text, "package  pending    waits for what it needs") {
		t.Errorf("got\n%s", text)
	}
	queued := jobPage{Job: view.Job{Name: "later", State: "queued", CreatedAt: now}, waits: []string{"due in 5 m", strings.Repeat("long ", 40)}}
	lines := drawJob(o, queued, 20)
	if len(lines) != 3 || lines[1] != "  due in 5 m" || cells(lines[2]) > o.width {
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
		o := &output{now: now, terminal: true, width: width, format: "table"}
		lines := drawJob(o, page, 10)
		if len(lines) > 10 {
			t.Errorf("%d lines", len(lines))
		}
		for _, line := range lines {
			if n := cells(line); n > width {
				t.Errorf("%d cells in a terminal of %d: %s", n, width, line)
			}
		}
		text := strings.Join(lines, "\n")
		if !strings.Contains(text, "1080p") || !strings.Contains(text, "more") {
			t.Errorf("got\n%s", text)
		}
	}
}

func TestRedraw(t *testing.T) {
	var out bytes.Buffer
	drawn := redraw(&out, []string{"a", "b"}, 0)
	drawn = redraw(&out, []string{"c"}, drawn)
	if want := "a\x1b[K\r\nb\x1b[K\r\n\x1b[J" + "\x1b[2Ac\x1b[K\r\n\x1b[J"; drawn != 1 || out.String() != want {
		t.Errorf("got %d, %q", drawn, out.String())
	}
}

func TestBar(t *testing.T) {
	for percent, full := range map[float64]int{-5: 0, 0: 0, 50: 10, 100: 20, 1e9: 20} {
		if got := strings.Count(bar(percent), "█"); got != full {
			t.Errorf("%v%%: %d", percent, got)
		}
	}
}

// Colour is for terminals; the words stay the same without it.
func TestTableColour(t *testing.T) {
	rows := []view.Worker{{Name: "w", State: "live", Services: []string{"a"}}}
	text := func(color bool) string {
		var out bytes.Buffer
		o := &output{Streams: Streams{Out: &out, Err: &out}, format: "table", color: color, now: time.Now()}
		if err := workerListing.print(o, rows); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	if got := text(false); strings.Contains(got, "\x1b") {
		t.Errorf("got %q", got)
	}
	if got := text(true); !strings.Contains(got, "\x1b[32mlive\x1b[0m") || stripEscapes(got) != text(false) {
		t.Errorf("got %q", got)
	}
}
