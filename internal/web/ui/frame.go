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
	// Back is the address that a choice of the language comes back to.
	Back string
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

// key is a line of the help: the key of its words, and what to press.
type key struct {
	does string
	keys []string
}

var shortcuts = []key{
	{"ui.search", []string{"/"}},
	{"key.help", []string{"?"}},
	{"key.overview", []string{"g", "o"}},
	{"key.workflows", []string{"g", "w"}},
	{"key.jobs", []string{"g", "j"}},
	{"key.tasks", []string{"g", "t"}},
	{"key.rollouts", []string{"g", "r"}},
	{"key.fleet", []string{"g", "f"}},
	{"key.workspaces", []string{"g", "k"}},
	{"key.databases", []string{"g", "d"}},
	{"key.pools", []string{"g", "p"}},
	{"key.nodes", []string{"g", "n"}},
	{"key.timeline", []string{"g", "e"}},
	{"key.schedules", []string{"g", "s"}},
	{"key.health", []string{"g", "h"}},
	{"key.users", []string{"g", "u"}},
	{"key.rows", []string{"j", "k"}},
	{"key.open", []string{"Enter"}},
	{"ui.copy.id", []string{"c"}},
	{"key.leave", []string{"Esc"}},
}
