package workpages

import (
	"bufio"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/weirhq/weir/internal/blob"
	"github.com/weirhq/weir/internal/blob/joblog"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/web/ui"
)

// linesShown is how many lines of a log the page of a task shows: the last ones.
// Whoever asks for more gets up to linesMost.
const linesShown, linesMost = 500, 5000

// outputView is what an attempt of a task printed.
type outputView struct {
	// there says that an agent runs the task, so that there may be a log.
	there   bool
	attempt int
	lines   int
	// text are the last lines; cut says that there are more before them.
	text string
	cut  bool
	// older is where the page before this one ends, paged that this one is not the last;
	// find is the text that all its lines have.
	older, find string
	paged       bool
	// why says why there is none.
	why string
}

// attemptOf is the attempt in the address, or the newest.
func attemptOf(r *site.Request, t view.Task) (int, error) {
	text := r.Query("attempt")
	if text == "" {
		return t.Attempt, nil
	}
	n, err := strconv.ParseInt(text, 10, 16)
	if err != nil || n < 1 {
		return 0, problem.New(problem.NotFound, "check the address", "%q is no attempt", text)
	}
	return int(n), nil
}

// output reads the end of a log. A bucket that does not answer is told on the
// page; the rest of it is there.
func (w *pages) output(r *site.Request, t view.Task) (v outputView, err error) {
	ctx := r.Context()
	if site.EmptyJSON(t.Run) {
		return v, nil
	}
	v.there = true
	if v.attempt, err = attemptOf(r, t); err != nil {
		return v, err
	}
	bucket, err := w.bucket()
	switch {
	case err != nil:
		v.why = ui.Say(ctx, "output.nobucket")
		return v, nil
	case v.attempt == 0:
		v.why = ui.Say(ctx, "output.none")
		return v, nil
	}
	v.lines = linesShown
	if r.Query("lines") != "" {
		v.lines = linesMost
	}
	lines, err := v.page(r, bucket, t)
	if err != nil {
		v.why = ui.Say(ctx, "output.unread") + " " + reason(ctx, err)
		return v, nil
	}
	if v.cut = len(lines) > v.lines; v.cut {
		lines = lines[1:]
		v.older = lines[0].Place.String()
	}
	switch {
	case len(lines) > 0:
	case v.find != "":
		v.why = ui.Say(ctx, "output.unfound")
	default:
		v.why = ui.Say(ctx, "output.silent")
	}
	var b strings.Builder
	for _, l := range lines {
		writeLine(&b, l)
	}
	v.text = b.String()
	return v, nil
}

// findMost is how long a text may be that is looked for.
const findMost = 200

// page reads the lines that the address asks for, and one more in front of them: those
// before a place, or the last ones, of all lines or of those that have a text.
func (v *outputView) page(r *site.Request, bucket blob.Bucket, t view.Task) ([]joblog.Line, error) {
	log := t.Log(v.attempt)
	before, err := joblog.ParsePlace(r.Query("before"))
	if err != nil {
		return nil, err
	}
	v.paged = before != joblog.Place{}
	v.find = r.Query("find")
	v.find = strings.ToValidUTF8(v.find[:min(len(v.find), findMost)], "")
	switch {
	case v.find == "" && v.paged:
		return joblog.Before(r.Context(), bucket, log, before, v.lines+1)
	case v.find == "":
		return joblog.Tail(r.Context(), bucket, log, v.lines+1)
	}
	low := strings.ToLower(v.find)
	has := func(text string) bool { return strings.Contains(strings.ToLower(text), low) }
	var found []joblog.Line
	for l, err := range joblog.Find(joblog.Read(r.Context(), bucket, log, joblog.Place{}), has) {
		if err != nil {
			return nil, err
		}
		if v.paged && !l.Place.Before(before) {
			break
		}
		found = append(found, l)
		found = found[max(0, len(found)-v.lines-1):]
	}
	return found, nil
}

// writeLine writes a line of a log in the colours of ui.Log. What came before it
// cannot colour it.
func writeLine(b *strings.Builder, l joblog.Line) {
	mark := "\x1b[90mout\x1b[0m"
	switch l.Stream {
	case joblog.Stderr:
		mark = "\x1b[33merr\x1b[0m"
	case joblog.Setup, joblog.Cleanup, joblog.Power:
		mark = "\x1b[36m" + l.Stream + "\x1b[0m"
	case joblog.Weir, joblog.Raw:
		mark = "\x1b[31m" + l.Stream + "\x1b[0m"
	}
	text := strings.NewReplacer("\r\n", "\n", "\n", " ").Replace(l.Text)
	fmt.Fprintf(b, "\x1b[0m\x1b[90m%s\x1b[0m %s %s\n", l.At.UTC().Format("15:04:05.000"), mark, text)
}

// taskOutput is the log of an attempt, whole, as text.
func (w *pages) taskOutput(rw http.ResponseWriter, r *site.Request) error {
	bucket, err := w.bucket()
	if err != nil {
		return err
	}
	id, err := r.ID("id")
	if err != nil {
		return err
	}
	t, err := w.Store.Task(r.Context(), id)
	if err != nil {
		return err
	}
	attempt, err := attemptOf(r, t)
	if err != nil {
		return err
	}
	h := rw.Header()
	h.Set("Content-Type", site.TextType)
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": fmt.Sprintf("%s-%d.log", strings.ReplaceAll(site.TaskName(t), "/", "-"), attempt)}))
	control := http.NewResponseController(rw)
	out := bufio.NewWriter(rw)
	sent := false
	for l, err := range joblog.Read(r.Context(), bucket, t.Log(attempt), joblog.Place{}) {
		switch {
		case err != nil && !sent:
			h.Del("Content-Disposition")
			return err
		case err != nil:
			w.Log.Error("a log broke off", "task", t.ID, "error", err)
			panic(http.ErrAbortHandler) // it must not look whole
		}
		if out.Available() < len(l.Text)+64 { // this line sends what is there
			_ = control.SetWriteDeadline(time.Now().Add(stall)) // a connection without deadlines is a test's
			sent = true
		}
		if _, err := fmt.Fprintf(out, "%s %s %s", l.At.UTC().Format(time.RFC3339Nano), l.Stream, ui.PlainLog(strings.ReplaceAll(l.Text, "\n", " ")+"\n")); err != nil {
			return nil // nobody reads any more
		}
	}
	_ = control.SetWriteDeadline(time.Now().Add(stall))
	_ = out.Flush() // nobody may read any more
	return nil
}

// runFacts are what a task tells its agent, for people.
type runFacts struct {
	Driver  string            `json:"driver"`
	Argv    []string          `json:"argv"`
	Image   string            `json:"image"`
	URL     string            `json:"url"`
	Method  string            `json:"method"`
	Secrets map[string]string `json:"secrets"`
	Files   map[string]string `json:"files"`
}

func readRun(data json.RawMessage) (f runFacts) {
	_ = json.Unmarshal(data, &f) // what does not fit is in the JSON below
	return f
}
