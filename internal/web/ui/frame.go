package ui

import (
	"time"

	"github.com/a-h/templ"
)

// Frame is everything around a page.
type Frame struct {
	Title string
	Assets
	Nav []NavGroup
	// User and Role are whose page it is; both are empty when nobody is logged in.
	User, Role string
	// Version is Weir's; Env says which installation this is.
	Version, Env string
	// Follow is the address whose fragments the page follows; empty: none.
	Follow string
	// Search is what stands in the search field.
	Search string
	Now    time.Time
	Flash  *Flash
}

// Assets are the addresses of the stylesheet and the scripts.
type Assets struct{ CSS, Module, Theme, Icon, Build string }

// NavGroup is a part of the side navigation. Its title may be empty.
type NavGroup struct {
	Title string
	Items []NavItem
}

// NavItem leads to a page.
type NavItem struct {
	Label, Href, Icon string
	// Key is the letter after g that leads there.
	Key string
	// Count stands beside the label, if it is not empty; Tone is a state.
	Count, CountTitle, Tone string
	Current                 bool
}

// Flash is said once, on the page after the one where something was done.
type Flash struct {
	Text string `json:"t"`
	Bad  bool   `json:"b,omitempty"`
}

// Head is the upper part of a page.
type Head struct {
	Title  string
	Crumbs []Crumb
	// Mark stands beside the title: a state, an id.
	Mark templ.Component
	// Sub is a line below the title.
	Sub templ.Component
	// Actions are buttons: Act, Ask and ButtonLink.
	Actions templ.Component
}

// Crumb leads to a page above.
type Crumb struct{ Label, Href string }

// key is a line of the help.
type key struct {
	does string
	keys []string
}

var shortcuts = []key{
	{"Search", []string{"/"}},
	{"This help", []string{"?"}},
	{"Go to the overview", []string{"g", "o"}},
	{"Go to workflows", []string{"g", "w"}},
	{"Go to jobs", []string{"g", "j"}},
	{"Go to tasks", []string{"g", "t"}},
	{"Go to rollouts", []string{"g", "r"}},
	{"Go to the fleet", []string{"g", "f"}},
	{"Go to workspaces", []string{"g", "k"}},
	{"Go to databases", []string{"g", "d"}},
	{"Go to pools", []string{"g", "p"}},
	{"Go to nodes", []string{"g", "n"}},
	{"Go to the timeline (events)", []string{"g", "e"}},
	{"Go to schedules", []string{"g", "s"}},
	{"Go to health", []string{"g", "h"}},
	{"Go to users", []string{"g", "u"}},
	{"Next and previous row", []string{"j", "k"}},
	{"Open the row", []string{"Enter"}},
	{"Copy the id", []string{"c"}},
	{"Leave a field, close a dialog", []string{"Esc"}},
}
