package buildtest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
)

// module is the prefix of every program's import path.
const module = "github.com/weirhq/weir/"

// Programs builds programs, named by their folders, into a new folder. Whoever calls it
// removes that.
func Programs(folders ...string) (dir string, err error) {
	if dir, err = os.MkdirTemp("", "weir-programs-"); err != nil {
		return "", err
	}
	args := []string{"build", "-buildvcs=false", "-ldflags", "-s -w -X main.version=v0.0.0-test", "-o", dir + "/"}
	for _, folder := range folders {
		args = append(args, module+folder)
	}
	err = os.Chmod(dir, 0o711) // #nosec G302 -- workspaces and agents of another user start them too
	if err == nil {
		var out []byte
		if out, err = exec.Command("go", args...).CombinedOutput(); err != nil { // #nosec G204 -- ours
			err = fmt.Errorf("build %v: %w\n%s", folders, err, out)
		}
	}
	if err != nil {
		return "", errors.Join(err, os.RemoveAll(dir))
	}
	return dir, nil
}
