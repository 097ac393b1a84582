package scenarios

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/weirhq/weir/internal/testdb"
)

// story is one scenario under way: its database, its clock and its names.
type story struct {
	t      *testing.T
	db     *testdb.DB
	begin  time.Time
	now    time.Time
	names  []string          // of tasks, in the order they came
	ids    map[string]string // by name, tasks and jobs
	leases map[string][]any  // by name, and by name@worker: task, attempt, token
	states map[string]string // by name, as last told
}

// newStory begins ahead of the real clock, so that nothing looks overdue to the
// doctor.
func newStory(t *testing.T) *story {
	begin := time.Now().UTC().Truncate(24 * time.Hour).Add(24 * time.Hour)
	return &story{t: t, db: testdb.New(t), begin: begin, now: begin, ids: map[string]string{}, leases: map[string][]any{}, states: map[string]string{}}
}

// play runs the commands of a block and returns what they answer.
func (s *story) play(lines []string) []string {
	var out []string
	for i := 0; i < len(lines); i++ {
		if strings.HasPrefix(lines[i], "#") {
			continue
		}
		c := parseCommand(lines[i])
		for i+1 < len(lines) && strings.HasPrefix(lines[i+1], "  ") {
			i++
			c.below = append(c.below, parseCommand(lines[i]))
		}
		out = append(out, s.run(c)...)
	}
	if len(out) == 0 {
		out = []string{"ok"}
	}
	for i := range out {
		out[i] = clock.ReplaceAllStringFunc(out[i], s.relative)
		for name, id := range s.ids {
			out[i] = strings.ReplaceAll(out[i], id, name)
		}
	}
	return out
}

var clock = regexp.MustCompile(`(\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d UTC`)

// relative tells a time as seconds after the beginning of the story.
func (s *story) relative(text string) string {
	if len(text) < len("2006-01-02 15:04:05 UTC") {
		text = s.now.Format("2006-01-02 ") + text
	}
	t, err := time.Parse("2006-01-02 15:04:05 MST", text)
	if err != nil {
		s.t.Fatal(err)
	}
	return fmt.Sprintf("%.0f s", t.Sub(s.begin).Seconds())
}

func (s *story) run(c command) []string {
	do, ok := verbs[c.verb]
	if !ok {
		s.t.Fatalf("%s: there is no such command", c.verb)
	}
	said, err := do(s, c)
	pgErr := new(pgconn.PgError)
	if errors.As(err, &pgErr) && strings.HasPrefix(pgErr.Code, "WR") {
		said = append(said, "refused ("+pgErr.Code+"): "+pgErr.Message)
	} else if err != nil {
		s.t.Fatalf("%s: %v", c.verb, err)
	}
	return append(said, s.changes()...)
}

// query returns the rows of a query, each as one line.
func (s *story) query(sql string, args ...any) ([]string, error) {
	rows, err := s.db.Pool.Query(context.Background(), sql, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// call runs a function whose answer is not worth a line unless it is a refusal.
func (s *story) call(sql string, args ...any) ([]string, error) {
	said, err := s.query(sql, args...)
	var out []string
	for _, line := range said {
		if line != "" && line != "ok" {
			out = append(out, line)
		}
	}
	return out, err
}

// changes tells which tasks are elsewhere than last told.
func (s *story) changes() []string {
	var out []string
	for _, name := range s.names {
		is, err := s.query(`select state::text || coalesce(' (' || gate::text || ')', '') || case when cancel_at is not null then ' (asked to stop)' else '' end
			|| case when state in ('failed', 'canceled', 'skipped') then coalesce(': ' || cause, '') else '' end from weir.task where id = $1`, s.ids[name])
		if err != nil || len(is) != 1 {
			s.t.Fatalf("state of %s: %v %v", name, is, err)
		}
		switch was := s.states[name]; {
		case was == "":
			out = append(out, name+": "+is[0])
		case was != is[0]:
			out = append(out, fmt.Sprintf("%s: %s → %s", name, was, is[0]))
		}
		s.states[name] = is[0]
	}
	return out
}

// command is a line of a scenario: a verb, words and fields.
type command struct {
	verb   string
	words  []string
	fields map[string]string
	below  []command
}

var token = regexp.MustCompile(`(\w+)=("[^"]*"|\S+)|"([^"]*)"|(\S+)`)

func parseCommand(line string) command {
	c := command{fields: map[string]string{}}
	for _, m := range token.FindAllStringSubmatch(line, -1) {
		switch {
		case m[1] != "":
			c.fields[m[1]] = strings.Trim(m[2], `"`)
		case c.verb == "":
			c.verb = m[0]
		default:
			c.words = append(c.words, strings.Trim(m[0], `"`))
		}
	}
	return c
}

// word is the n-th word after the verb; empty when there is none.
func (c command) word(n int) string {
	if n < len(c.words) {
		return c.words[n]
	}
	return ""
}
