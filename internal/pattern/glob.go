package pattern

import (
	"path"
	"strings"
)

// Glob reports whether a path fits a pattern: * and ? stand for anything but a slash, ** for
// any number of folders. A pattern without a slash is about the last part of the path alone.
// It looks at each pair of a part of the pattern and a part of the path once, however many **
// there are.
func Glob(source, name string) bool {
	if !strings.Contains(source, "/") && source != "**" {
		name = path.Base(name)
	}
	parts := strings.Split(name, "/")
	// fits[i] says that what was read of the pattern fits the first i parts.
	fits := make([]bool, len(parts)+1)
	fits[0] = true
	for word := range strings.SplitSeq(source, "/") {
		if word == "**" {
			for i := range parts {
				fits[i+1] = fits[i+1] || fits[i]
			}
			continue
		}
		for i := len(parts); i > 0; i-- {
			fits[i] = fits[i-1] && one(word, parts[i-1])
		}
		fits[0] = false
	}
	return fits[len(parts)]
}

func one(word, part string) bool {
	ok, err := path.Match(word, part)
	return ok && err == nil
}
