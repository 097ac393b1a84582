// Package testwait is how tests wait for a condition: they look again and again, and
// give up only after a time in which a healthy program on a busy machine has long met
// it. A test never sleeps for a fixed time instead.
package testwait
