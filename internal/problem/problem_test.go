package problem

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/pg"
)

func TestExplain(t *testing.T) {
	refuse := func(code, message, hint, detail string) error {
		return fmt.Errorf("list tasks: %w", &pgconn.PgError{Code: code, Message: message, Hint: hint, Detail: detail})
	}
	state := func(code, message, hint string) error { return refuse(code, message, hint, "") }
	for name, c := range map[string]struct {
		err        error
		kind       Kind
		what, next string
	}{
		"refusal": {state("WR422", "pool: there is no pool", "create it"), Invalid, "pool: there is no pool", "create it"},
		"not found": {
			refuse("WR404", "there is no task 1", "", `{"pattern": "there is no %s %s", "args": ["task", "1"]}`), NotFound, "there is no task", "weir task list",
		},
		"no pool": {
			refuse("WR422", "pool: there is no pool 'gpu'", "create it first: weir.set_pool", `{"field": "pool", "pattern": "there is no %s %L", "args": ["pool", "gpu"]}`),
			Invalid, "no pool 'gpu'", "weir pool set gpu --size 10",
		},
		"owner only":  {OwnerOnly(state("42501", "permission denied", "")), Forbidden, "permission denied", "connect as the owner of the schema"},
		"owner fails": {OwnerOnly(state("57P01", "terminating connection", "")), Unreachable, "terminating", "try again"},
		"sentinel":    {fmt.Errorf("read: %w", weir.ErrNotFound), NotFound, "read: not found", ""},
		"conflict":    {state("WR409", "it runs", "wait"), Conflict, "it runs", "wait"},
		"bad text":    {state("22P05", "unsupported escape", ""), Invalid, "unsupported escape", ""},
		"no schema":   {state("42P01", "relation does not exist", ""), Failed, "relation", "run weir migrate"},
		"no rights":   {state("42501", "permission denied", ""), Forbidden, "permission denied", "weir_client"},
		"shutdown":    {state("57P01", "terminating connection", ""), Unreachable, "terminating", "try again"},
		"full disk":   {state("53100", "could not extend file", "check free disk space"), Unreachable, "extend", "make room"},
		"read-only":   {state("25006", "cannot execute INSERT in a read-only transaction", ""), Unreachable, "read-only", "primary"},
		"deadlock":    {state("40P01", "deadlock detected", "see server log"), Unreachable, "deadlock", "try again"},
		"serialized":  {state("40001", "could not serialize access", ""), Unreachable, "serialize", "try again"},
		"locked":      {state("55P03", "could not obtain lock", ""), Unreachable, "lock", "try again"},
		"slow query":  {state("57014", "canceling statement due to statement timeout", ""), Unreachable, "timeout", "too long"},
		"interrupted": {fmt.Errorf("wait: %w", context.Canceled), Canceled, "canceled", ""},
		"too slow":    {fmt.Errorf("wait: %w", context.DeadlineExceeded), Unreachable, "wait", "weir up"},
		"newer":       {fmt.Errorf("migrate: %w", pg.ErrSchemaNewer), Failed, "newer", "install"},
		"anything":    {errors.New("weir: no"), Failed, "no", ""},
		"a problem":   {fmt.Errorf("x: %w", &Problem{Kind: Forbidden, What: "a", Next: "b"}), Forbidden, "a", "b"},
	} {
		t.Run(name, func(t *testing.T) {
			p := Explain(c.err)
			if p.Kind != c.kind || !strings.Contains(p.What, c.what) || !strings.Contains(p.Advice(), c.next) {
				t.Errorf("got %+v", p)
			}
			if c.next == "" && p.Next != "" {
				t.Errorf("unexpected advice %q", p.Next)
			}
		})
	}
}

// Programs branch on codes, so each stands for one kind, with a status and an exit code.
func TestKinds(t *testing.T) {
	for _, k := range Kinds() {
		if FromCode(k.Code()) != k || k.Status() < 400 || k.Exit() < 1 || k.Exit() > len(Exits()) || k.Meaning() == "" {
			t.Errorf("kind %d: code %q, status %d, exit %d, meaning %q", k, k.Code(), k.Status(), k.Exit(), k.Meaning())
		}
	}
	if FromCode("no such code") != Failed {
		t.Error("an unknown code is not Failed")
	}
}

// A client learns about its input, and nothing about our database.
func TestPublic(t *testing.T) {
	state := func(code, message string) error {
		return fmt.Errorf("list: %w", &pgconn.PgError{Code: code, Message: message})
	}
	for name, c := range map[string]struct {
		err    error
		kind   Kind
		what   string
		hidden bool
	}{
		"refusal":      {state("WR422", "pool: there is no pool"), Invalid, "pool: there is no pool", false},
		"bad text":     {state("22P05", "unsupported escape"), Invalid, "unsupported escape", false},
		"password":     {state("28P01", "password authentication failed for user x"), Failed, "something went wrong", true},
		"rights":       {state("42501", "permission denied for table tokens"), Failed, "something went wrong", true},
		"no database":  {state("3D000", "database x does not exist"), Failed, "something went wrong", true},
		"shutdown":     {state("57P01", "terminating"), Unreachable, "cannot do it at the moment", true},
		"full disk":    {state("53100", "could not extend file base/1/2"), Unreachable, "cannot do it at the moment", true},
		"too slow":     {fmt.Errorf("x: %w", context.DeadlineExceeded), Unreachable, "too long", true},
		"anything":     {errors.New("dial tcp 192.0.2.1: no"), Failed, "something went wrong", true},
		"our own word": {New(Forbidden, "ask", "you may not"), Forbidden, "you may not", false},
	} {
		t.Run(name, func(t *testing.T) {
			p, hidden := Public(c.err)
			if p.Kind != c.kind || !strings.Contains(p.What, c.what) || hidden != c.hidden {
				t.Errorf("got %v %q, hidden %v", p.Kind.Code(), p.What, hidden)
			}
		})
	}
}

// The data for programs is passed on, from the database to the client of a server.
func TestData(t *testing.T) {
	const limit = `{"max":2}`
	p := Explain(fmt.Errorf("start: %w", &pgconn.PgError{Code: "WR429", Message: "2 run", Hint: "stop one first", Detail: limit}))
	if p.Kind != TooMany || p.Kind.Status() != 429 || string(p.Data) != limit || p.Next != "stop one first" {
		t.Errorf("%+v", p)
	}
	if p := Explain(&pgconn.PgError{Code: "22P02", Message: "no", Detail: `"x"`}); p.Data != nil {
		t.Errorf("%+v", p)
	}
	got, _, ok := Received("application/problem+json", []byte(`{"code": "too_many", "detail": "2 run", "data": `+limit+`}`))
	if !ok || got.Kind != TooMany || string(got.Data) != limit {
		t.Errorf("%+v, %v", got, ok)
	}
}

// A refusal of the database is shown in the language of the page, with its arguments in
// their places, and moves to the field name of a face.
func TestIn(t *testing.T) {
	refuse := func(code, detail string) *Problem {
		return Explain(&pgconn.PgError{Code: code, Message: "said in English", Hint: "it may be misspelt, or older than the retention", Detail: detail})
	}
	gone := refuse("WR404", `{"pattern": "there is no %s %s", "args": ["task", "7"]}`).In("ko")
	if gone.What != "작업 7이(가) 없습니다" || gone.Next != "철자가 틀렸거나 보관 기간이 지났을 수 있습니다; 무엇이 있는지 확인하세요" || gone.Command != "weir task list" {
		t.Errorf("%+v", gone)
	}
	pool := refuse("WR422", `{"field": "tasks[0].pool", "pattern": "there is no %s %L", "args": ["pool", "it's"]}`)
	if got := pool.Below("tasks[0]"); got.Field != "pool" || got.What != "pool: there is no pool 'it''s'" {
		t.Errorf("%+v", got)
	}
	if got := pool.Below("tasks[0]").Within("task").In("ko"); got.Field != "task" || got.What != "task: pool: 풀 'it''s'이(가) 없습니다" {
		t.Errorf("%+v", got)
	}
	version := refuse("WR409", `{"pattern": "version %s of workflow %L was deleted", "args": ["3", null]}`).In("ko")
	if version.What != "워크플로 NULL의 버전 3은(는) 삭제되었습니다" {
		t.Errorf("%+v", version)
	}
	other := New(Failed, "", "no sentence of ours %d", 1)
	if got := other.In("ko"); got.What != other.What {
		t.Errorf("%+v", got)
	}
	if pool.In("en") != pool {
		t.Error("English is not what it was")
	}
}
