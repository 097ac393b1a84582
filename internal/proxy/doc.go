// Package proxy is the way into workspaces. Each has a host of its own, ws-{id}.{domain},
// so that no workspace shares an origin with another or with the dashboard.
//
//	browser ──▶ which host? ──▶ from this origin? ──▶ who is inside? ──▶ what phase?
//	              │ 421             │ 403               │ 401, or off to     │
//	              ▼                 ▼                   ▼ the dashboard      ├─ RUNNING ──▶ provider.Dial, and nothing else
//	                                                                        ├─ STANDBY, ARCHIVED ──▶ wanted once, a page that waits
//	                                                                        └─ PENDING, ERROR, gone ──▶ a page that says why
//
// # Coming in
//
// A host that does not know a browser sends it to the dashboard. Who is logged in there
// and may open the workspace comes back with a code: it works once, for half a minute, on
// that host, and becomes a cookie of that host alone. The cookie ends with the session
// that asked for it, when the user is disabled, and when their role changes; whatever is
// open then is cut within a few seconds. Neither the cookies of Weir nor Authorization
// reach a workspace.
//
// # What a workspace cannot do
//
// Set a cookie for other hosts, or one of ours; clear the site's data; be embedded or
// called by a page of another origin, its neighbours included; change where the proxy
// connects to: that is asked of the provider, by the id in the host's name.
//
// # Waking
//
// A person who opens a page wakes a workspace, or a program that asks. What a page does on
// its own does not: else a tab that was left open would wake what was stopped because
// nobody used it. Over the limit there is a page that lists what runs.
//
// Paths below /_weir/ are the proxy's own.
package proxy
