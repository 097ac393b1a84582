// Package door is the HTTP side of auth, shared by the API and the dashboard.
//
//	request ──► Host known? ──► identity? ──► from this site? ──► handler, with the subject in its context
//	              │ 421           │ 401           │ 403
//
// [Door.Guard] is the first of these steps alone, for content that is open to everyone.
// [Door.Wrap] stands before every other handler. It finds the subject: a bearer token
// first, then the session's cookie. A request with neither is anonymous, which is no
// error: a handler that requires a subject refuses it with auth.Allow. A credential that
// is not valid is an error, never an anonymous request.
//
// The cookie is __Host-weir_session: Secure, HttpOnly, SameSite=Lax, for this host alone.
// On plain http, which is for this machine alone, a browser would not keep such a cookie,
// so it is called weir_session there. Two cookies of the name mean that another host set
// one of them, and neither counts.
//
// A request that changes something and comes with a cookie, or logs in, must come from a
// page of this server (http.CrossOriginProtection). A browser does not send a bearer
// token on its own, so requests with one pass.
package door
