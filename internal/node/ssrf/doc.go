// Package ssrf guards calls that are allowed by name against addresses to which a name
// must not lead, because the owner of a name decides where it leads and need not be the
// one who allowed it. The address is checked when the call is made.
//
//	allowed by name ──► lookup ──► [Unmap] ──► [Allowed]? ──► connect
//
// A guarded address can still be allowed: then it is on the list itself, because a wide
// range does not include it ([Guarded]).
package ssrf
