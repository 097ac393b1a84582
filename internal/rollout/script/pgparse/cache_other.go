//go:build !unix

package pgparse

// cacheFolder: who may write to a folder cannot be told here in a simple way.
func cacheFolder() (string, bool) { return "", false }
