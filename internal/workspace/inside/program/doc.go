// Package program is what Weir's own binary does when it runs within a workspace or
// beside a volume. People never type it: providers do.
//
//	serve     the built-in workspace, until it is asked to end
//	pack      a folder as an archive on the output; what it holds on the last line of the errors
//	unpack    the input, an archive, into a folder that is empty
//	relay     connections to a port of this machine, many on the one pair of input and output
//	install   this binary into a folder
//	shell     a small shell, for an image that has none
//
// The input, the output and the exit are a pipe that somebody else holds, and that can
// break anywhere. So whoever packs says how long the archive is and what its sum is, and
// whoever unpacks trusts the archive alone to tell where it ends.
package program
