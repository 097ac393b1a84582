// Package spelling finds the known word closest to a mistyped one, for the advice
// "did you mean". All faces and all readers of files use it, so that they advise alike.
package spelling
