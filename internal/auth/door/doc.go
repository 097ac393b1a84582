// Package door is the HTTP side of auth, shared by the API and the dashboard.
//
//	request ──► Host known? ──► who asks? ──► from this site? ──► handler, with the subject in its context
//	              │ 421           │ 401           │ 403
//
// [Door.Guard] is the first of these steps alone, for what everybody may have.
// [Door.Wrap] stands before every handler. It finds the subject: a bearer token
// first, then the session's cookie. Neither is nobody, which is no error: a
// handler that wants somebody says so with auth.Allow. One that opens nothing
// is an error, never nobody.
//
// The cookie is __Host-weir_session: Secure, HttpOnly, SameSite=Lax, for this
// host alone. On plain http, which is for this machine alone, a browser would
// not keep such a cookie, and it is called weir_session. Two cookies of the
// name mean that somebody else set one of them, and neither counts.
//
// A request that changes something and comes with a cookie, or logs in, must
// come from a page of ours (http.CrossOriginProtection). A bearer token is not
// sent by a browser on its own, so such requests pass.
package door
