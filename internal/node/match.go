package node

import (
	"path"
	"strings"
)

// Match reports whether a path below WEIR_OUT fits a pattern: * and ? stand for
// anything but a slash, ** for any number of folders. A pattern without a slash
// is about the last part of the path alone.
func Match(pattern, name string) bool {
	if !strings.Contains(pattern, "/") && pattern != "**" {
		name = path.Base(name)
	}
	return matchParts(strings.Split(pattern, "/"), strings.Split(name, "/"))
}

func matchParts(pattern, name []string) bool {
	for len(pattern) > 0 {
		if pattern[0] == "**" {
			for len(pattern) > 1 && pattern[1] == "**" {
				pattern = pattern[1:]
			}
			for i := range len(name) + 1 {
				if matchParts(pattern[1:], name[i:]) {
					return true
				}
			}
			return false
		}
		if len(name) == 0 {
			return false
		}
		if ok, err := path.Match(pattern[0], name[0]); !ok || err != nil {
			return false
		}
		pattern, name = pattern[1:], name[1:]
	}
	return len(name) == 0
}
