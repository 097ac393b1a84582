// Package web is the dashboard: pages that are written by the server, kept fresh
// by one stream each, and complete without a script.
//
//	browser ─ GET /jobs ──► door ──► Page.Load ──► View ──► ui.Layout ──► HTML
//	                         who?     may they?      data
//	        ─ GET /live?path=/jobs ──► the same page again when something of
//	                                   interest happened: only the fragments that
//	                                   changed are sent, and morphed in
//	        ─ POST /jobs/ID/cancel ──► Action.Do ──► redirect, and a toast
//
// Contract:
//   - A page holds no rules and no SQL. It asks a store and shows what it read.
//   - Every page and action names the right it takes, on its line in the routes.go of its
//     domain. This package serves them all and asks for the right.
//     Load may show or leave out a button by Request.Can; the action asks again.
//   - Everything is text unless it is a component: templ escapes. Logs and JSON
//     go through ui.Log and ui.JSON. Nothing else writes HTML.
//   - No inline script, no inline style, no style attribute: the policy of the
//     door refuses them, and the tests in Chromium fail.
//   - State of a page is its address: filters, tabs and pages of lists are links
//     and GET forms, so that they can be shared and the back button works.
//   - Errors are problems: what is wrong, what to do next. One with a field is
//     shown at that field of the form.
//
// The rooms (decision 0025):
//
//	web             the server: routes, navigation, session, language, live updates, login, search
//	site            what all pages share: request, types, set-up, lists, fields, addresses, events
//	workpages       tasks, jobs, artifacts, output
//	flowpages       workflows, schedules
//	rolloutpages    rollouts, databases
//	fleetpages      fleet jobs, devices, PCs, quarantine
//	workspacepages  workspaces, their policy
//	capacitypages   pools, nodes, workers
//	accountpages    users, tokens, joins, the account
//	systempages     overview, timeline, health, settings, secrets
//	ui, picture     the kit (read its doc for the list of components); the drawings
//	asset           the stylesheet and the module
//	webtest         runs it all for tests, with a real database and Chromium
//	pagetest        the tests of pages
//
// A package of pages has the same shape everywhere: doc.go, routes.go with the type pages (the
// set-up and the caches of the domain) and the function Routes, files that read, templates that
// show. It imports no other package of pages.
//
// # How to add a page
//
// A page of pools, for example, is three files and one line.
//
// The line, in capacitypages/routes.go. The entry in the navigation (nav.go) shows up by
// itself once its page exists; add one there for a new noun.
//
//	{Path: "/pools", Verb: auth.Read, Kind: "pool", Load: w.pools},
//
// pools.go reads. It returns a View: a head, a body, and what to follow.
//
//	func (w *pages) pools(r *site.Request) (site.View, error) {
//		pools, err := w.Store.Pools(r.Context(), r.Page())
//		if err != nil {
//			return site.View{}, err // becomes an error page with the right status
//		}
//		return site.View{
//			Head:   ui.Head{Title: ui.Say(r.Context(), "word.pools")},
//			Body:   poolsPage(pools),
//			Follow: &timeline.Filter{Kinds: []string{"pool", "task"}},
//		}, nil
//	}
//
// pools.templ shows. What changes by itself stands in ui.Live, each with an id
// of its own on the page; live parts do not nest. Rows carry a key, so that an
// update finds them again. Run go generate ./internal/web afterwards and commit
// what it writes.
//
//	templ poolsPage(pools []view.Pool) {
//		@ui.Live("pools") {
//			if len(pools) == 0 {
//				@ui.Empty("pool", ui.Say(ctx, "pools.empty"), ui.Say(ctx, "pools.empty.text"), "weir pool set db --size 3")
//			} else {
//				@ui.Table(ui.Say(ctx, "word.pools"), ui.Columns(ctx, "name", "size#", "running#")) {
//					for _, p := range pools {
//						<tr { ui.Row(ui.Path("pools", p.Name), p.Name)... }>
//							<td data-label={ ui.Say(ctx, "word.name") }><a class="row-link" href={ templ.SafeURL(ui.Path("pools", p.Name)) }>{ p.Name }</a></td>
//							…
//						</tr>
//					}
//				}
//			}
//		}
//	}
//
// pagetest/pools_test.go proves it, over HTTP and in a browser.
//
//	func TestPools(t *testing.T) {
//		s := webtest.Start(t)
//		ada := s.Login(t, "ada", auth.Viewer)
//		ada.Get(t, "/pools").Is(t, 200).Has(t, "No pool yet")
//		s.Exec(t, `select weir.set_pool('<b>p</b>', size => 1)`)
//		ada.Get(t, "/pools").Has(t, "&lt;b&gt;p&lt;/b&gt;").Lacks(t, "<b>p</b>")
//	}
//
//	func TestBrowserPools(t *testing.T) {
//		s := webtest.Start(t)
//		b := s.Open(t)
//		b.Login(s.User(t, "ada", auth.Viewer))
//		b.Go("/pools")
//		b.WaitLive()
//		s.Exec(t, `select weir.set_pool('db', size => 3)`)
//		b.WaitText("db") // without a reload
//		b.Shots("pools") // light, dark, wide, narrow; WEIR_SCREENSHOTS=folder keeps them
//	}
//
// # How to add an action
//
// A button leads to a question (ui.Ask); the question is a page of its own, and
// the module opens it as a dialog. GET asks, POST does it:
//
//	{Path: "/jobs/{id}/cancel", Nav: "/jobs", Verb: auth.Command, Kind: "job", Ask: w.askCancelJob, Do: w.cancelJob},
//
// Ask returns a ui.Question: it names the consequence and may have fields. Do
// returns where to go and what to say there. When Do is refused, the question is
// shown again with the problem and with what was filled in. What can be undone
// needs no question: leave Ask nil and use ui.Act for the button. What is more than
// some fields has a page of its own, Form, and Do shows it again by Done.Show: see
// rolloutpages/rollout_new.go.
//
// # Lists, filters, raw data
//
//   - r.OneOf("state", view.States) reads a filter and refuses other words;
//     ui.Filter shows the form; ui.With(r.URL, "after", next) and ui.Paging lead on.
//   - r.ID("id") reads an id of the path; a wrong one is a 404.
//   - site.SeeOther(path), as the error of a Load, leads to another page.
//   - File (routes.go: files) serves JSON or a log whole, never as HTML; ui.JSON
//     and ui.Log link to it when they show a part only.
//   - Download (routes.go: downloads) serves what tasks made, of any size: to be
//     kept, and never as a page. Only pictures are shown in place.
//   - Workflows, rollouts, the fleet, workspaces, secrets, waking and the bucket may be
//     missing on a server: ask for them by w.Flows, w.rolls, w.fleets, w.workspaces
//     and w.bucket, whose errors say what to set.
//
// # Words
//
// Every word of a page comes from package locale by its key: ui.Say(ctx, key, values…), and
// ui.Count(ctx, key, n) where English has a word of its own for one. The guard chooses the
// language of a request; the account menu and the login page let a person choose another.
//
//   - ui.Columns(ctx, "name", "size#") are headings: the words word.name and word.size.
//   - ui.Code(ctx, "gate.", code) names a code; ui.Codes(ctx, prefix, values…) are choices.
//   - The module has no words of its own: ui.Layout hands them over in data-words.
//   - A name, an id or code has translate="no"; what a store says has data-said. All else is
//     found by TestBrowserKorean if it is not Korean.
package web

//go:generate go tool -modfile=../../tools/go.mod templ generate -path . -include-version=false -log-level error
