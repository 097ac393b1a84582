// Package http runs work by posting it to a service that runs already.
//
//	POST url  {"task","job","key","attempt","fence","params"}
//	   │
//	   ├─ 2xx             done; a JSON answer is the result
//	   ├─ 4xx             failed for good, but for 408, 425 and 429
//	   ├─ 5xx, no answer  failed: another attempt may do better
//	   └─ 3xx             failed for good: redirects are not followed
//
// An answer may come in pieces: lines that begin with :: are the line protocol
// of a process (::progress 40, ::result {…}) and are passed on as they arrive.
// In an answer of lines (application/x-ndjson, text/plain) all others are log,
// and the last one that is a JSON object is the result.
//
// A definition can come from anybody who may write one, so it does not decide
// whom this machine talks to: the operator's list does. The name is checked
// before anything is sent, and the address behind it when the connection is
// made, so a name that changes its address gains nothing.
package http
