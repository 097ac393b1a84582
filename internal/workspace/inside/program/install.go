package program

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Name is what the binary is called where it is installed.
const Name = "weir"

// install puts this binary into a folder: beside its place, then swapped in, so that
// nobody ever runs half of it.
func install(args []string) error {
	if len(args) != 1 {
		return errors.New("install: name one folder")
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("install: %w", err)
	}
	from, err := os.Open(self) // #nosec G304 -- ourselves
	if err != nil {
		return fmt.Errorf("install: %w", err)
	}
	defer from.Close()
	to, err := os.CreateTemp(args[0], ".new-*")
	if err != nil {
		return fmt.Errorf("install: %w", err)
	}
	_, err = io.Copy(to, from)
	// Whoever uses the workspace runs it.
	err = errors.Join(err, to.Chmod(0o555), to.Sync(), to.Close()) // #nosec G302 -- a program is executable
	if err == nil {
		err = os.Rename(to.Name(), filepath.Join(args[0], Name)) // #nosec G703 -- the folder that was named
	}
	if err != nil {
		return fmt.Errorf("install: %w", errors.Join(err, os.Remove(to.Name()))) // #nosec G703 -- made just now
	}
	return nil
}
