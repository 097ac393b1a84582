//go:build unix

package pgparse

import (
	"os"
	"path/filepath"
	"syscall"
)

// cacheFolder is where the machine code is kept, if there is a folder that nobody
// but us can write to: with sudo the home may be another user's.
func cacheFolder() (string, bool) {
	base, err := os.UserCacheDir()
	if err != nil {
		return "", false
	}
	weir := filepath.Join(base, "weir")
	folder := filepath.Join(weir, "parser")
	if os.MkdirAll(folder, 0o700) != nil {
		return "", false
	}
	return folder, ours(base) && ours(weir) && ours(folder)
}

// ours says that a folder is ours alone to write to.
func ours(folder string) bool {
	info, err := os.Lstat(folder)
	if err != nil || !info.IsDir() || info.Mode().Perm()&0o022 != 0 {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}
