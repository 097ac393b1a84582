// Package accountcmd has the commands on users, tokens, sessions, join tokens and contexts, and
// those that log in and out.
package accountcmd
