package agent_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/agent"
	"github.com/weirhq/weir/internal/node"
)

// A secret reaches the work, and nothing else.
func TestSecretsStayInTheWork(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const canary, pem = "canary-5up3r-s3cret-value", "-----BEGIN KEY-----\nMIIEvQIBADANBgkqh\n-----END KEY-----\n"
	for name, value := range map[string]string{"db": canary, "pem": pem} {
		if err := w.vault.Put(t.Context(), "ann", name, value, ""); err != nil {
			t.Fatal(err)
		}
	}
	c := w.config("n1", map[string]int{"sh": 1})
	w.run(c)
	job := w.submit(sh("a", `
		test "$DB" = canary-5up3r-s3cret-"value" || { echo wrong; exit 9; }
		test "$(sha256sum < "$WEIR_SECRETS/id/key.pem")" = "$SUM  -" || exit 8
		test "$(stat -c %a "$WEIR_SECRETS/id/key.pem")" = 600 || exit 7
		echo "the value is $DB"; echo "$DB" >&2; cat "$WEIR_SECRETS/id/key.pem"
		echo "::event warn it is $DB"
		echo "::result {\"db\": \"$DB\"}"
		test "$WEIR_ATTEMPT" = 2 || { echo "bad $DB" >&2; exit 3; }`).
		with("max_attempts", 2).running("secrets", map[string]string{"DB": "db"}).
		running("env", map[string]string{"SUM": fmt.Sprintf("%x", sha256.Sum256([]byte(pem)))}).running("files", map[string]string{"id/key.pem": "pem"}))
	if got := w.end(job, "a"); got.State != "done" || got.Attempt != 2 || got.Result != `{"db": "***"}` {
		t.Fatalf("got %+v", got)
	}
	if log := strings.Join(w.logOf(job, "a", 1), "\n"); !strings.Contains(log, "the value is ***") {
		t.Errorf("the log is %s", log)
	}
	seen := map[string]string{"agent's log": w.log.String()}
	for attempt := 1; attempt <= 2; attempt++ { // the bucket has them compressed
		seen[fmt.Sprintf("log of attempt %d", attempt)] = strings.Join(w.logOf(job, "a", attempt), "\n")
	}
	seen["timeline"] = one[string](w, `select coalesce(string_agg(e::text, ''), '') from weir.events e`)
	seen["tasks"] = one[string](w, `select coalesce(string_agg(e::text, ''), '') from weir.task e`)
	_ = filepath.WalkDir(w.folder, func(path string, e os.DirEntry, _ error) error {
		if e != nil && e.Type().IsRegular() {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Error(err)
			}
			seen[path] = string(text)
		}
		return nil
	})
	for where, text := range seen {
		for _, secret := range []string{canary, "MIIEvQIBADANBgkqh"} {
			if strings.Contains(text, secret) {
				t.Errorf("%s is in %s", secret, where)
			}
		}
	}
}

// Endless output is cut with a marker, and the agent does not wait for it.
func TestMuchOutputIsCut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.run(w.config("n1", map[string]int{"sh": 1}))
	job := w.submit(
		sh("much", `head -c 100000000 /dev/zero | tr '\0' 'x' | fold -w 999; echo; echo 'this is why'; echo '::result "still heard"'`),
		sh("wide", `head -c 1000000 /dev/zero | tr '\0' 'y'; printf '\nnext\r\n\377\000end'`),
		sh("result", `printf '::result "'; head -c 2000000 /dev/zero | tr '\0' 'z'; echo '"'`),
	)
	if got := w.end(job, "much"); got.State != "done" || got.Result != `"still heard"` {
		t.Errorf("got %+v", got)
	}
	var kept int
	log := w.logOf(job, "much", 1)
	for _, line := range log {
		kept += len(line)
	}
	if kept < 9<<20 || kept > 11<<20 {
		t.Errorf("%d bytes were kept", kept)
	}
	// The end is kept too, because errors are there.
	if !slices.Contains(log[len(log)-2:], "stdout: this is why") {
		t.Errorf("the last lines are %.100q", log[len(log)-2:])
	}
	over := slices.IndexFunc(log, func(line string) bool { return strings.HasPrefix(line, "weir: the log is over 10 MiB") })
	if over < 0 || over+2 >= len(log) || !strings.HasPrefix(log[over+1], "weir: ") || !strings.HasSuffix(log[over+1], "bytes of the log were left out") {
		t.Errorf("there is no marker: line %d of %d", over, len(log))
	}
	if got := w.end(job, "wide"); got.State != "done" {
		t.Errorf("got %+v", got)
	}
	wide := w.logOf(job, "wide", 1)
	if len(wide) != 3 || len(wide[0]) > 66_000 || !strings.HasSuffix(wide[0], "bytes cut)") || wide[1] != "stdout: next" || wide[2] != "stdout: \uFFFD\uFFFDend" {
		t.Errorf("%d lines: %.80q", len(wide), wide)
	}
	if got := w.end(job, "result"); got.State != "failed" || !strings.Contains(got.Cause, "WEIR_OUT") {
		t.Errorf("got state %s, %.200s", got.State, got.Cause)
	}
}

func TestBadLinesOfTheProtocolAreNotFatal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.run(w.config("n1", map[string]int{"sh": 1}))
	job := w.submit(sh("a", `echo '::progress many'; echo '::result {'; echo '::event loud x'; echo '::what'; echo '::result "a\u0000b"'`))
	got := w.end(job, "a")
	if got.State != "done" || got.Result != "\"a\uFFFDb\"" {
		t.Errorf("got %+v", got)
	}
	if n := one[int](w, `select count(*) from weir.events where task = $1 and type = 'note' and level = 'warn'`, got.ID); n != 4 {
		t.Errorf("%d warnings", n)
	}
	if log := w.logOf(job, "a", 1); len(log) != 4 {
		t.Errorf("the log is %q", log)
	}
}

// The requested files in WEIR_OUT are stored; a link is not followed.
func TestOutputsAreKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.config("n1", map[string]int{"sh": 1})
	c.OutputMost = 1 << 20
	w.run(c)
	job := w.submit(
		sh("a", `cd "$WEIR_OUT"; mkdir -p deep/er; echo 1 > deep/er/a.csv; echo 2 > b.txt; ln -s /etc/passwd c.csv; ln -s /etc d; mkfifo f.csv`).running("artifacts", []string{"**/*.csv"}),
		sh("big", `head -c 2000000 /dev/zero > "$WEIR_OUT/big"`),
		sh("gone", `rm -rf "$WEIR_OUT"; chmod 000 .`),
	)
	if got := w.end(job, "a"); got.State != "done" {
		t.Errorf("got %+v", got)
	}
	if got := one[string](w, `select string_agg(name || ' ' || content_type, ', ') from weir.artifacts`); got != "deep/er/a.csv text/csv; charset=utf-8" {
		t.Errorf("kept: %s", got)
	}
	// The timeline names what was stored, and what was not: a link and a pipe.
	if got := one[string](w, `select string_agg(type || ': ' || message, '; ' order by type) from weir.events where task = $1 and type in ('artifact', 'note')`, w.task(job, "a").ID); got !=
		"artifact: deep/er/a.csv; note: 2 links, pipes or the like in WEIR_OUT are not kept: only files are" {
		t.Errorf("the timeline says %s", got)
	}
	if got := w.end(job, "big"); got.State != "failed" || !strings.Contains(got.Cause, "WEIR_OUT has more than") {
		t.Errorf("got %+v", got)
	}
	if got := w.end(job, "gone"); got.State != "done" {
		t.Errorf("got %+v", got)
	}
}

// lossy performs calls and then loses the answer, or refuses to start.
type lossy struct {
	agent.Transport
	lose, refuse atomic.Int64
}

var errLossy = errors.New("the answer was lost")

func (l *lossy) Claim(ctx context.Context, r node.ClaimRequest) (node.Claimed, error) {
	c, err := l.Transport.Claim(ctx, r)
	if len(c.Tasks) > 0 && l.lose.Add(-1) >= 0 {
		return node.Claimed{}, errLossy
	}
	return c, err
}

func (l *lossy) Report(ctx context.Context, told node.Told) (node.Heard, error) {
	ends := len(told.Ends) > 0
	if ends && l.refuse.Add(-1) >= 0 {
		return node.Heard{}, errLossy
	}
	h, err := l.Transport.Report(ctx, told)
	if ends && l.lose.Add(-1) >= 0 {
		return node.Heard{}, errLossy
	}
	return h, err
}

func TestLostAnswers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.config("n1", map[string]int{"sh": 2})
	l := &lossy{Transport: c.Transport}
	c.Transport = l
	l.lose.Store(3)
	l.refuse.Store(2)
	a := w.run(c)
	steps := []step{}
	for _, key := range []string{"a", "b", "c", "d"} {
		steps = append(steps, sh(key, `echo x >> "$TRACE"`).running("env", map[string]string{"TRACE": w.folder + "/trace"}))
	}
	job := w.submit(steps...)
	for _, key := range []string{"a", "b", "c", "d"} {
		if got := w.end(job, key); got.State != "done" || got.Attempt != 1 {
			t.Errorf("%s: got %+v", key, got)
		}
	}
	w.until("all is told", func() bool { return a.Stats().Done == 4 })
	if text, err := os.ReadFile(w.folder + "/trace"); err != nil || bytes.Count(text, []byte("x")) != 4 {
		t.Errorf("they ran %d times: %v", bytes.Count(text, []byte("x")), err)
	}
}

// An end that could not be reported is reported by the next process of the agent.
func TestAnEndOutlivesTheAgent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.config("n1", map[string]int{"sh": 1})
	l := &lossy{Transport: c.Transport}
	l.refuse.Store(1 << 30)
	first := c
	first.Transport, first.Lease = l, 5*time.Second
	a := agent.New(first)
	over := make(chan error, 1)
	go func() { over <- a.Run(context.Background()) }()
	job := w.submit(sh("a", `echo '::result 7'`))
	w.until("the end is kept", func() bool {
		found, _ := filepath.Glob(filepath.Join(agent.Attempts(c.Dir), "*", "outcome.json"))
		return len(found) == 1
	})
	// A killed agent would leave the folder in this state.
	dead := w.TempDir()
	if err := os.CopyFS(dead, os.DirFS(c.Dir)); err != nil {
		t.Fatal(err)
	}
	second := w.config("n1", map[string]int{"sh": 1})
	if err := os.CopyFS(second.Dir, os.DirFS(dead)); err != nil {
		t.Fatal(err)
	}
	w.run(second)
	if got := w.end(job, "a"); got.State != "done" || got.Result != "7" || got.Attempt != 1 {
		t.Errorf("got %+v", got)
	}
	a.Leave()
	if err := <-over; err != nil {
		t.Error(err)
	}
}
