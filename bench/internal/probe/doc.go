// Package probe measures the machine itself, so that figures of another machine
// can be read beside ours: a durable commit, a process, and plain computing.
package probe
