package temporal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
)

const (
	// module is what Build builds.
	module  = "github.com/temporalio/cli/cmd/temporal"
	version = "v1.5.1"
	// variable names the program.
	variable = "TEMPORAL_CLI"
)

const (
	// Auto uses an existing program, Build builds one if there is none, Off goes without.
	Auto, Build, Off = "auto", "build", "off"
)

// ErrNone means that there is no program, and says why.
var ErrNone = errors.New("no Temporal")

// Find returns the path of the program temporal: the one that TEMPORAL_CLI names,
// the one in PATH, or the one that was built before. Any other mode than those
// above is the path itself.
func Find(ctx context.Context, mode string, getenv func(string) string) (string, error) {
	built, err := cached()
	if err != nil {
		return "", err
	}
	switch mode {
	case Off:
		return "", fmt.Errorf("%w: switched off", ErrNone)
	case Auto, Build:
	default:
		return mode, usable(mode)
	}
	if path := getenv(variable); path != "" {
		return path, usable(path)
	}
	if path, err := exec.LookPath("temporal"); err == nil {
		return path, nil
	}
	if usable(built) == nil {
		return built, nil
	}
	if mode == Auto {
		return "", fmt.Errorf("%w: %s is not set and PATH has no temporal; -temporal build builds it", ErrNone, variable)
	}
	return built, build(ctx, built)
}

// cached returns the path of a program that was built before.
func cached() (string, error) {
	folder, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find the cache folder: %w", err)
	}
	return filepath.Join(folder, "weir-bench", "temporal-"+version, "temporal"), nil
}

// build makes the program from its module. It takes minutes.
func build(ctx context.Context, path string) error {
	cmd := exec.CommandContext(ctx, "go", "install", module+"@"+version)
	cmd.Dir = os.TempDir() // so that no go.mod of this repository applies
	cmd.Env = append(os.Environ(), "GOBIN="+filepath.Dir(path), "GOFLAGS=", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s@%s: %w\n%s", module, version, err, out)
	}
	return usable(path)
}

func usable(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("the program temporal: %w", err)
	}
	if info.IsDir() || info.Mode()&0o111 == 0 {
		return fmt.Errorf("the program temporal: %w", &fs.PathError{Op: "run", Path: path, Err: fs.ErrPermission})
	}
	return nil
}
