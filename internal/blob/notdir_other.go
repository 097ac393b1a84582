//go:build !unix

package blob

// isNotDir says that a path leads through something that is no folder. Other
// systems call that missing.
func isNotDir(error) bool { return false }
