// Package period reads and writes a length of time as people write it: 90s, 5m, 2h30m,
// 1d12h. Definitions, settings, flags, forms and the API all read this one grammar; what
// is positive, bounded or may be a number of seconds is up to the caller.
package period
