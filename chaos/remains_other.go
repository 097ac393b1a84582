//go:build unix && !linux

package chaos

// Remains finds nothing here because another process's environment cannot be read.
func Remains(string, bool) ([]string, error) { return nil, nil }

// Keepers finds nothing here either.
func Keepers(string) ([]int, error) { return nil, nil }
