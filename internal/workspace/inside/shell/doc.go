// Package shell is a small shell, so that an image with nothing in it but our own binary
// has a terminal. The language is that of bash, as far as it goes; of programs it has the
// few that deal with files. What else is on the PATH, it runs.
package shell
