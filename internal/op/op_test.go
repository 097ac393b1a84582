package op_test

import (
	"context"
	"reflect"
	"testing"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/problem"
)

// shelf is a store.
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

func TestRequest(t *testing.T) {
	path, body := note.Request(&noted{named: named{"a/b"}})
	if !reflect.DeepEqual(path, []string{"pools", "a/b", "note"}) || body != nil {
		t.Errorf("%q %v", path, body)
	}
	if _, body := note.Request(given(t, map[string]string{"pool": "p", "text": "x", "loud": "false", "how_often": "0"})); body == nil {
		t.Error("the body is lost")
	}
}
