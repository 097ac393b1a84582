// Package docker runs workspaces as containers, each with a volume as its home.
//
//	ws-{id}                 the container: the built-in workspace, or any image that is allowed
//	ws-{id}-home-{nonce}    the home; another one for each time that it is filled
//	ws-{id}-mark-{mounts}   an empty volume that says of a home that it is whole: its labels
//	                        are what the home holds and how often it was mounted
//	ws-{id}-{verb}-{nonce}  our own binary beside a home, while it packs or unpacks
//	ws-{id}-net             the network of the container, if it has one of its own
//	weir-tool-{sum}         our own binary, which every container sees at /.weir
//
// Everything carries labels with the installation and the workspace, and what does not is
// never touched. Docker cannot change a label, but it makes a volume of a name only once:
// so a mark is a new volume each time, the one with the highest number counts, and of two
// who would set the same one wins. A home gets a new name each time it is filled: whoever
// was paused for an hour and goes on to remove the old one cannot meet the new one.
//
// # The way in
//
// A container needs no network for the proxy to reach it: a process of ours within it
// carries connections to its port (package relay). That leads into this container and
// nowhere else, wherever the engine is.
//
// # What a container may not do
//
// It is never privileged, has no capabilities and gets no new ones, sees nothing of the
// machine, and has bounds for processors, memory and processes. options.go is all of it.
package docker
