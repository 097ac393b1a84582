// Package reach knows the addresses to which a name must not lead. Who says where
// a name leads need not be who allowed it, so calls that are allowed by name are
// judged by address once more when they are made.
//
//	allowed by name ──► look-up ──► [Inner] ──► [ByName]? ──► connect
//
// An address that a name must not lead to can still be meant: then it stands on
// the list of what is allowed itself, and a wide range does not stand for it
// ([Guarded]).
package reach
