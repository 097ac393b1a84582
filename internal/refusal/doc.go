// Package refusal is what a refusal says to programs: the field, the pattern of its
// sentence and the arguments that stand in it. The database sends it as the detail of
// an error (weir._raise); the SDK makes it where it refuses something itself.
//
// See docs/decisions/0023-refusals.md.
package refusal
