// Package near finds what somebody meant who mistyped it, for the advice "did you
// mean". All faces and all readers of files ask it, so that they advise alike.
package near
