package site

import (
	"net/http"

	"github.com/a-h/templ"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/timeline"
	"github.com/weirhq/weir/internal/web/ui"
)

// Routes are the pages of a domain, and what people can do there. A right stands on the line
// of what it opens.
type Routes struct {
	Pages     []Page
	Actions   []Action
	Files     []File
	Downloads []Download
}

// Page is one page of the dashboard: who may see it, and how it is made.
type Page struct {
	// Path is as http.ServeMux reads it: /jobs/{id}.
	Path string
	// Nav is the path of the entry of the navigation that is lit. Empty: Path.
	Nav string
	// Verb and Kind are the right that it takes.
	Verb auth.Verb
	Kind string
	// Own says that the page shows only what is the reader's own.
	Own  bool
	Load func(*Request) (View, error)
}

// View is a page with all its data, ready to be written.
type View struct {
	ui.Head
	Body templ.Component
	// Plain says that the body has a heading of its own.
	Plain bool
	// Follow says which events may change the page. Nil: it is looked at every
	// few seconds only.
	Follow *timeline.Filter
	// Still pages hold nothing that changes by itself, such as forms.
	Still bool
	// Status is that of the answer. Zero: 200.
	Status int
}

// Elsewhere is the answer of a page that stands under another address.
type Elsewhere string

func (e Elsewhere) Error() string { return "see " + string(e) }

// SeeOther is the error of a Load that leads to another page.
func SeeOther(path string) error { return Elsewhere(path) }

// The types of files.
const (
	JSONType = "application/json"
	TextType = "text/plain; charset=utf-8"
)

// File is an answer that is no page: JSON or a log, whole.
type File struct {
	Path string
	Verb auth.Verb
	Kind string
	// Load returns the type of the data, and the data. HTML is never served so.
	Load func(*Request) (contentType string, data []byte, err error)
}

// Action is something that a person does: GET asks, POST does it.
type Action struct {
	// Path is as http.ServeMux reads it: /jobs/{id}/cancel.
	Path string
	// Nav is the path of the entry of the navigation that is lit.
	Nav string
	// Verb and Kind are the right that it takes; Own as in Page.
	Verb auth.Verb
	Kind string
	Own  bool
	// Ask is the question, with its fields. Nil: the action can be undone and
	// is done at once.
	Ask func(*Request) (ui.Question, error)
	// Form is the question as a page, for one that is more than some fields. Do then
	// shows what it refuses itself, by Done.Show.
	Form func(*Request) (View, error)
	Do   func(*Request) (Done, error)
}

// Done is what follows an action.
type Done struct {
	// To is the page to go to.
	To string
	// Say is shown there, once.
	Say string
	// Show is a page to show instead, for what must be seen once: a secret.
	Show *View
}

// Download is an answer of any size. Serve returns an error as long as nothing
// was sent.
type Download struct {
	Path  string
	Verb  auth.Verb
	Kind  string
	Serve func(http.ResponseWriter, *Request) error
}
