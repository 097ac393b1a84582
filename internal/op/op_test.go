package op_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/problem"
)

// shelf is a store for tests.
type shelf struct{ by, text string }

type named struct {
	Pool string `path:"pool" flag:"NAME" doc:"Its name."`
}

type noted struct {
	named
	Body *struct {
		Text  string `json:"text" doc:"What to remember."`
		Loud  bool   `json:"loud,omitempty"`
		Times int    `json:"how_often,omitempty"`
	}
}

var note = op.New(op.Operation{Noun: "pool", Verb: "note", Method: "POST", Path: "/pools/{pool}/note", Right: auth.Manage, Summary: "Write a note"},
	func(_ context.Context, s *shelf, who auth.Subject, in *noted) (int, error) {
		s.by, s.text = who.By(), in.Pool+": "+in.Body.Text
		return in.Body.Times, nil
	})

// given fills an input as a form or a command line does.
func given(t *testing.T, values map[string]string) *noted {
	t.Helper()
	in := new(noted)
	for _, f := range op.Fields(in) {
		if err := f.Parse(in, values[f.Name]); err != nil {
			t.Fatal(err)
		}
	}
	return in
}

func TestLocalAsksForTheRight(t *testing.T) {
	store := &shelf{}
	in := given(t, map[string]string{"pool": "gpu", "text": "two are broken", "loud": "true", "how_often": "3"})
	local := op.Local{Stores: []any{nil, "another store", store}}
	as := func(role auth.Role) context.Context {
		return auth.WithSubject(t.Context(), auth.Subject{Kind: auth.KindUser, ID: "u", UserID: "u", Name: "mia", Role: role})
	}
	if _, err := note.Call(as(auth.Viewer), local, in); problem.Explain(err).Kind != problem.Forbidden || store.text != "" {
		t.Errorf("a viewer: %v, %+v", err, store)
	}
	if _, err := note.Call(t.Context(), local, in); problem.Explain(err).Kind != problem.Unauthenticated {
		t.Errorf("nobody: %v", err)
	}
	if n, err := note.Call(as(auth.Maintainer), local, in); err != nil || n != 3 || *store != (shelf{"mia", "gpu: two are broken"}) {
		t.Errorf("a maintainer: %d %v, %+v", n, err, store)
	}
	if _, err := note.Call(as(auth.Admin), op.Local{Stores: []any{nil}}, in); problem.Explain(err).Kind != problem.NotFound {
		t.Errorf("without a store: %v", err)
	}
}

// An object of the caller's own takes a lower role than one of another owner, so the
// operation checks again.
func TestLocalAsksForOnesOwn(t *testing.T) {
	mine := op.New(op.Operation{Noun: "workspace", Verb: "show", Right: auth.Read, Own: true},
		func(_ context.Context, _ *shelf, who auth.Subject, in *string) (bool, error) {
			return true, auth.Allow(who, auth.Read, auth.Object{Kind: "workspace", Owner: *in})
		})
	local := op.Local{Stores: []any{&shelf{}}}
	ctx := auth.WithSubject(t.Context(), auth.Subject{Kind: auth.KindUser, ID: "u", UserID: "u", Name: "mia", Role: auth.Viewer})
	if _, err := mine.Call(ctx, local, new("u")); err != nil {
		t.Errorf("one's own: %v", err)
	}
	if _, err := mine.Call(ctx, local, new("v")); err == nil {
		t.Error("somebody else's was given")
	}
	if _, err := mine.Call(t.Context(), local, new("u")); problem.Explain(err).Kind != problem.Unauthenticated {
		t.Errorf("nobody: %v", err)
	}
}

// A value may be left out, a duration may have days, and words of a list are read in any case.
func TestParse(t *testing.T) {
	type input struct {
		Body struct {
			Name  *string  `json:"name,omitempty"`
			Lasts *op.Wait `json:"lasts,omitempty"`
			After op.Wait  `json:"after,omitzero"`
			State string   `json:"state,omitempty" enum:"ON,OFF"`
			Which string   `json:"which" flag:"WHICH"`
		}
	}
	in := new(input)
	values := map[string]string{"lasts": "1d12h", "after": "0", "state": "off", "which": "x"}
	for _, f := range op.Fields(in) {
		if f.Required != (f.Name == "which") || f.Arg() != (f.Name == "which") {
			t.Errorf("%+v", f)
		}
		if text, given := values[f.Name]; given {
			if err := f.Parse(in, text); err != nil {
				t.Error(err)
			}
		}
	}
	b := in.Body
	if b.Name != nil || b.Lasts == nil || *b.Lasts != op.Wait(36*time.Hour) || b.After != 0 || b.State != "OFF" || b.Which != "x" {
		t.Errorf("%+v", b)
	}
}

func TestFields(t *testing.T) {
	in := new(noted)
	type field struct {
		place      op.Place
		name, flag string
		required   bool
	}
	var got []field
	for _, f := range op.Fields(in) {
		got = append(got, field{f.Place, f.Name, f.Flag, f.Required})
		if v := f.Get(in); !reflect.ValueOf(v).IsZero() {
			t.Errorf("%s of a body that was left out: %v", f.Name, v)
		}
	}
	want := []field{{op.Path, "pool", "NAME", true}, {op.Body, "text", "text", true}, {op.Body, "loud", "loud", false}, {op.Body, "how_often", "how-often", false}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
	for _, f := range op.Fields(in) {
		if err := f.Parse(in, "often"); (err == nil) != (f.Type.Kind() == reflect.String) {
			t.Errorf("%s takes a word: %v", f.Name, err)
		}
	}
}

// Typed values keep to the bounds of their field.
func TestParseBounds(t *testing.T) {
	in := new(struct {
		Body struct {
			Size *int      `json:"size,omitempty" minimum:"0" maximum:"9"`
			Per  op.Period `json:"per,omitzero"`
			At   time.Time `json:"at,omitzero"`
		}
	})
	fields := op.Fields(in)
	for i, texts := range [][]string{{"4", "-1", "10", "four"}, {"1d2h", "soon", "-1s", "0s"}, {"2030-01-31T08:00:00Z", "noon"}} {
		for j, text := range texts {
			if err := fields[i].Parse(in, text); (err == nil) != (j == 0) {
				t.Errorf("%s takes %q: %v", fields[i].Name, text, err)
			}
		}
	}
	if b := in.Body; *b.Size != 4 || time.Duration(b.Per) != 26*time.Hour || b.At.Year() != 2030 {
		t.Errorf("got %+v", b)
	}
}

// A map gets one entry after the other; the input that was read before stays as it was.
func TestParseMaps(t *testing.T) {
	type input struct {
		Body struct {
			Labels map[string]string `json:"labels,omitzero"`
			Slots  map[string]int    `json:"slots,omitzero" minimum:"1"`
		}
	}
	in := new(input)
	fields := op.Fields(in)
	for i, texts := range [][]string{{"zone=eu", "a=b=c", "zone=us", "old="}, {"render=2", "audio=4"}} {
		for _, text := range texts {
			before := *in
			if err := fields[i].Parse(in, text); err != nil {
				t.Error(err)
			}
			if i == 0 && reflect.DeepEqual(before.Body.Labels, in.Body.Labels) {
				t.Errorf("%s changed nothing, or what was read before", text)
			}
		}
	}
	if b := in.Body; !reflect.DeepEqual(b.Labels, map[string]string{"zone": "us", "a": "b=c", "old": ""}) || !reflect.DeepEqual(b.Slots, map[string]int{"render": 2, "audio": 4}) {
		t.Errorf("got %+v", b)
	}
	for _, bad := range []string{"render", "=2", "render=two", "render=0"} {
		if err := fields[1].Parse(in, bad); err == nil {
			t.Errorf("%s was taken", bad)
		}
	}
}

// Over replaces an existing definition, and creates a missing one.
func TestOver(t *testing.T) {
	type input struct {
		op.Matched
		Body definition
	}
	put := op.New(op.Operation{Noun: "pool", Verb: "set", Right: auth.Manage}, func(_ context.Context, is *[]definition, _ auth.Subject, in *input) (definition, error) {
		tag := ""
		if len(*is) > 0 {
			tag = (*is)[0].Tag()
		}
		if err := in.Judge("pool", tag, false); err != nil {
			return "", err
		}
		*is = []definition{in.Body}
		return in.Body, nil
	})
	var is []definition
	local := op.Local{Stores: []any{&is}, Who: func(context.Context) auth.Subject { return auth.System("test") }}
	for _, match := range []string{"*", "", ""} {
		in := input{op.Matched{IfMatch: match}, definition(match + "x")}
		if made, err := op.Over(t.Context(), local, put, &in, &in.Matched); err != nil || made != in.Body || is[0] != made {
			t.Errorf("%q: %v, %v, %v", match, made, is, err)
		}
	}
}

type definition string

func (d definition) Tag() string { return op.Tag(string(d)) }
func (d definition) New() bool   { return false }

func TestRequest(t *testing.T) {
	r := note.Request(&noted{named: named{"a/b"}})
	if !reflect.DeepEqual(r.Path, []string{"pools", "a/b", "note"}) || r.Body != nil {
		t.Errorf("%+v", r)
	}
	if r := note.Request(given(t, map[string]string{"pool": "p", "text": "x", "loud": "false", "how_often": "0"})); r.Body == nil {
		t.Error("the body is lost")
	}
	r = note.Request(&struct {
		op.Paged
		op.Keyed
		Label []string `query:"label,explode"`
		State string   `query:"state"`
	}{op.Paged{Limit: 7}, op.Keyed{IdempotencyKey: "k"}, []string{"a=b", "c=d"}, ""})
	if got := r.Query.Encode() + " " + r.Header.Get("Idempotency-Key"); got != "label=a%3Db&label=c%3Dd&limit=7 k" {
		t.Errorf("query and header: %s", got)
	}
}

// A page after a full one begins behind its last row, and Each reads to the end.
func TestPages(t *testing.T) {
	type input struct{ op.Paged }
	shelves := op.List(op.Operation{Noun: "pool", Verb: "list", Method: "GET", Path: "/pools", Right: auth.Read},
		func(_ context.Context, rows *[]string, _ auth.Subject, in *input) (page []string, _ error) {
			for _, row := range *rows {
				if row > in.After && len(page) < in.Limit {
					page = append(page, row)
				}
			}
			return page, nil
		}, func(row string) string { return row })
	var rows []string
	local := op.Local{Stores: []any{&rows}, Who: func(context.Context) auth.Subject { return auth.System("test") }}
	if page, err := shelves.Call(t.Context(), local, &input{op.Paged{Limit: 2}}); err != nil || page.Items == nil || page.Next != "" {
		t.Errorf("an empty list: %+v, %v", page, err)
	}
	for i := range 2001 {
		rows = append(rows, fmt.Sprintf("%04d", i))
	}
	if page, err := shelves.Call(t.Context(), local, &input{op.Paged{Limit: 2}}); err != nil || len(page.Items) != 2 || page.Next != "0001" {
		t.Errorf("the first page: %+v, %v", page, err)
	}
	if all, err := op.Each(t.Context(), local, shelves, input{}); err != nil || len(all) != len(rows) {
		t.Errorf("all: %d, %v", len(all), err)
	}
}

// The same key of another subject is another key; a key that contradicts the one in the
// body is refused.
func TestKeys(t *testing.T) {
	mia := auth.Subject{Kind: auth.KindUser, UserID: "u1"}
	for _, c := range []struct {
		who                auth.Subject
		header, body, want string
	}{{mia, "", "", ""}, {mia, "a", "", "user:u1/a"}, {mia, "", "a", "user:u1/a"}, {mia, "a", "a", "user:u1/a"}, {auth.System("x"), "a", "", "a"}} {
		if got, err := (op.Keyed{IdempotencyKey: c.header}).Key(c.who, c.body); got != c.want || err != nil {
			t.Errorf("%+v: %q, %v", c, got, err)
		}
	}
	if _, err := (op.Keyed{IdempotencyKey: "a"}).Key(mia, "b"); problem.Explain(err).Field != "idempotency_key" {
		t.Errorf("two keys: %v", err)
	}
}

// A caller that replaces a definition names the version that it has seen.
func TestMatches(t *testing.T) {
	for _, c := range []struct {
		match, none, tag string
		same             bool
		status           int
	}{
		{"", "", "", false, 0},
		{"", "", `"1"`, true, 0},
		{"", "", `"1"`, false, http.StatusPreconditionRequired},
		{`"1"`, "", `"1"`, false, 0},
		{`"0", "1"`, "", `"1"`, false, 0},
		{"*", "", `"1"`, false, 0},
		{`"0"`, "", `"1"`, false, http.StatusPreconditionFailed},
		{"*", "", "", false, http.StatusPreconditionFailed},
		{"", "*", `"1"`, true, http.StatusPreconditionFailed},
		{"", "*", "", false, 0},
	} {
		status := 0
		if u := new(op.Unmatched); errors.As((op.Matched{IfMatch: c.match, IfNoneMatch: c.none}).Judge("pool", c.tag, c.same), &u) {
			status = u.Status
		}
		if status != c.status {
			t.Errorf("%+v: %d", c, status)
		}
	}
}
