// Package proxy is the entrance to workspaces. Each has a host of its own,
// ws-{id}.{domain}, so that no workspace shares an origin with another or with the
// dashboard.
//
//	browser ──▶ which host? ──▶ from this origin? ──▶ a valid visit? ──▶ what phase?
//	              │ 421             │ 403               │ 401, or off to     │
//	              ▼                 ▼                   ▼ the dashboard      ├─ RUNNING ──▶ provider.Dial, and nothing else
//	                                                                        ├─ STANDBY, ARCHIVED ──▶ woken once, a page that waits
//	                                                                        └─ PENDING, ERROR, gone ──▶ a page with the reason
//
// # Coming in
//
// A host sends a browser without a visit to the dashboard. A user who is logged in there
// and may open the workspace comes back with a code: it works once, for half a minute, on
// that host, and becomes a cookie of that host alone. The cookie ends with the session
// that requested it, when the user is disabled, and when their role changes; open
// connections are then cut within a few seconds. Neither the cookies of Weir nor
// Authorization reach a workspace.
//
// # What a workspace cannot do
//
// A workspace cannot set a cookie for other hosts, or one of ours; clear the site's data;
// be embedded or called by a page of another origin, its neighbors included; or change
// where the proxy connects to, because the proxy gets that from the provider, by the id
// in the host's name.
//
// # Waking
//
// A person who opens a page, or the request of a program, wakes a workspace. The
// background requests of a page do not, because a tab that was left open would otherwise
// wake a workspace that was stopped for lack of use. Over the limit there is a page that
// lists what runs.
//
// Paths below /_weir/ are the proxy's own.
package proxy
