package problem

import "net/http"

// Kind is the sort of a failure: it tells who must act, and how a program should
// continue.
type Kind int

// The kinds.
const (
	Failed          Kind = iota // the operation failed
	Canceled                    // it was canceled
	Invalid                     // the input was refused
	Unauthenticated             // the caller is not identified
	Forbidden                   // the caller is identified, and may not
	NotFound                    // an id or a name refers to nothing
	Conflict                    // the state of the object does not allow it
	Stale                       // another worker or leader has it now
	TooLarge                    // the input is over a limit of size
	Throttled                   // too many requests: wait
	TooMany                     // the limit is reached: end one first
	Unreachable                 // the database or the server does not answer, or cannot at the moment
)

// kinds is the one table error → code → HTTP status → exit code. A code never changes its
// meaning, because programs branch on it.
var kinds = [...]struct {
	code         string
	status, exit int
	meaning      string
}{
	Failed:          {"failed", http.StatusInternalServerError, 1, "it did not work"},
	Canceled:        {"canceled", 499, 2, "somebody stopped it"},
	Invalid:         {"invalid", http.StatusUnprocessableEntity, 3, "the input was refused; field names what is wrong"},
	Unauthenticated: {"unauthenticated", http.StatusUnauthorized, 4, "log in, or send a token"},
	Forbidden:       {"forbidden", http.StatusForbidden, 4, "the role or the token's scopes do not reach so far"},
	NotFound:        {"not_found", http.StatusNotFound, 5, "there is no such thing, or it is not yours to see"},
	Conflict:        {"conflict", http.StatusConflict, 1, "not in the state it is in"},
	Stale:           {"stale", http.StatusGone, 1, "the lease or the term is somebody else's by now"},
	TooLarge:        {"too_large", http.StatusRequestEntityTooLarge, 3, "the input is over a limit of size"},
	Throttled:       {"throttled", http.StatusTooManyRequests, 1, "too often: wait as long as Retry-After says"},
	TooMany:         {"too_many", http.StatusTooManyRequests, 1, "as many as may are there; data says which: end one first"},
	Unreachable:     {"unreachable", http.StatusServiceUnavailable, 6, "the database or the server does not answer, or cannot at the moment: try again as Retry-After says"},
}

// RetryAfter returns after how many seconds to try again, for the header of that name if
// no better value is known; 0 means that a retry does not help.
func (k Kind) RetryAfter() int {
	if k == Unreachable {
		return 2
	}
	return 0
}

// Kinds returns all kinds, in the order of the table.
func Kinds() []Kind {
	all := make([]Kind, len(kinds))
	for i := range all {
		all[i] = Kind(i)
	}
	return all
}

// Code returns the word that programs branch on.
func (k Kind) Code() string { return kinds[k].code }

// Status returns the HTTP status.
func (k Kind) Status() int { return kinds[k].status }

// Exit returns the exit code of a command.
func (k Kind) Exit() int { return kinds[k].exit }

// Meaning describes the kind to a person.
func (k Kind) Meaning() string { return kinds[k].meaning }

// Exits describes each exit code of a command, by code from 1 on.
func Exits() []string {
	return []string{"failed", "canceled", "bad input", "not allowed", "not found", "unreachable"}
}

// FromCode returns the kind with a code. An unknown code is Failed.
func FromCode(code string) Kind {
	for k, row := range kinds {
		if row.code == code {
			return Kind(k)
		}
	}
	return Failed
}
