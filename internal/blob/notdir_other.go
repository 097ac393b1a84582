//go:build !unix

package blob

// isNotDir reports whether a path leads through something that is no folder. Other
// systems report that as missing.
func isNotDir(error) bool { return false }
