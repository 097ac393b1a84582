package app

import (
	"os"
	"path/filepath"
	"slices"
)

// passable says of path and each folder above it whether others may pass through.
func passable(path string) map[string]bool {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil
	}
	folders := map[string]bool{}
	for dir := path; ; dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err == nil {
			folders[dir] = info.Mode().Perm()&0o001 != 0
		}
		if dir == filepath.Dir(dir) {
			return folders
		}
	}
}

// opened are the folders that were closed to others and no longer are. Started
// by root, PostgreSQL runs as another user; below the temporary folder the way
// to its data is opened for it, which nobody should have to find out alone.
func opened(before, after map[string]bool) (folders []string) {
	for dir, open := range after {
		if was, known := before[dir]; open && known && !was {
			folders = append(folders, dir)
		}
	}
	slices.Sort(folders)
	return folders
}
