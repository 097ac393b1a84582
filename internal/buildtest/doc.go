// Package buildtest builds programs of this module for tests that start them as people
// do, as processes. They are built without the race detector, because most of what a
// command does is starting, which the race detector makes three times as long, and tests
// start hundreds. What runs at once inside a server or an agent is tested with it in
// their own packages.
package buildtest
