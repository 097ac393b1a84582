// Package refusal is the part of a refusal for programs: the field, the pattern of its
// sentence and the arguments of the pattern. The database sends it as the detail of an
// error (weir._raise); the SDK makes it where it refuses something itself.
//
// See docs/decisions/0023-refusals.md.
package refusal
