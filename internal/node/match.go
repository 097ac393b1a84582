package node

import "github.com/weirhq/weir/internal/pattern"

// Match reports whether a path below WEIR_OUT matches a pattern: * and ? stand for
// anything but a slash, ** for any number of folders. A pattern without a slash matches
// only the last part of the path.
func Match(glob, name string) bool { return pattern.Glob(glob, name) }
