// Package patience is how tests wait for what must happen: they look again and
// again, and give up only after a time in which a healthy program on a busy machine
// has long done it. A test never sleeps for a time and hopes.
package patience
