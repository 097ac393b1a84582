// Package probe measures the machine itself, so that figures of other machines can be
// compared: a durable commit, a process, and plain computing.
package probe
