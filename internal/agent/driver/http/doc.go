// Package http runs work by posting it to a service that is already running.
//
//	POST url  {"task","job","key","attempt","fence","params"}
//	   │
//	   ├─ 2xx             done; a JSON answer is the result
//	   ├─ 4xx             failed permanently, except for 408, 425 and 429
//	   ├─ 5xx, no answer  failed: another attempt may succeed
//	   └─ 3xx             failed permanently: redirects are not followed
//
// An answer may arrive in pieces: lines that begin with :: are the line protocol of a
// process (::progress 40, ::result {…}) and are passed on as they arrive. In an answer of
// lines (application/x-ndjson, text/plain) all other lines are log, and the last one that
// is a JSON object is the result.
//
// A definition can come from any user who may write one, so it does not decide which
// hosts this machine talks to: the operator's list does. The driver checks the name
// before it sends anything, and the address behind the name when it connects, so a name
// that changes its address gains nothing.
package http
