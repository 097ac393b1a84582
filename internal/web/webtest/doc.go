// Package webtest runs the dashboard for tests: a real server on a real
// database, a client with a cookie, and a real Chromium.
//
//	func TestMain(m *testing.M) { webtest.Main(m) }
//
//	func TestJobs(t *testing.T) {
//		s := webtest.Start(t)
//		page := s.Login(t, "ada", auth.Operator).Get(t, "/jobs")   // plain HTTP
//		page.Has(t, "No job yet")
//
//		b := s.Open(t)                                             // Chromium
//		b.Login(s.User(t, "bob", auth.Viewer))
//		b.Go("/jobs")
//		b.WaitText("No job yet")
//		b.Shots("jobs")
//	}
//
// Shots writes pictures of a page, light and dark, wide and narrow, into the
// folder WEIR_SCREENSHOTS; without it, nothing. A test fails when the page breaks
// its own security policy or throws an error.
//
// Chromium is looked for in PATH. Without it a test is skipped, loudly; with
// CI=true it fails.
package webtest
