// Package ssrf guards calls that are allowed by name against addresses to which a
// name must not lead, because the owner of a name decides where it leads and need
// not be the one who allowed it. The address is judged when the call is made.
//
//	allowed by name ──► look-up ──► [Unmap] ──► [Allowed]? ──► connect
//
// A guarded address can still be meant: then it stands on the list of what is
// allowed itself, because a wide range does not include it ([Guarded]).
package ssrf
