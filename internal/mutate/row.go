package mutate

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Row is one guard and the test that must fail without it.
type Row struct {
	// Guard describes what is taken out. It is the name of the row.
	Guard string
	// File is its path from the root of the repository.
	File string
	// Old is the text of the guard, which occurs in the file exactly once. New is its
	// replacement.
	Old, New string
	// Package contains the test, in the form that go test takes; Test is its name.
	Package, Test string
}

// Rows returns all rows, by domain.
func Rows() []Row {
	return slices.Concat(engineRows, leadRows, lockRows, openerRows, flowRows, rolloutRows, fleetRows, workspaceRows, serverRows, operationRows, sdkRows)
}

const schemaFolder = "schema"

// inSchema reports whether the row needs no build.
func (r Row) inSchema() bool {
	return strings.HasPrefix(r.File, schemaFolder+"/") && strings.HasSuffix(r.File, ".sql")
}

// apply returns the file's text without the guard. root is the repository.
func (r Row) apply(root string) (string, error) {
	text, err := os.ReadFile(filepath.Join(root, r.File)) // #nosec G304 -- a row of the table
	if err != nil {
		return "", err
	}
	if n := strings.Count(string(text), r.Old); n != 1 {
		return "", fmt.Errorf("%s has the text of the guard %d times, not once: write the row anew for the file as it is now", r.File, n)
	}
	if r.Old == r.New {
		return "", fmt.Errorf("%s: the row changes nothing", r.File)
	}
	return strings.Replace(string(text), r.Old, r.New, 1), nil
}

// Stale returns why the row cannot be run, without running it.
func (r Row) Stale(root string) error {
	if _, err := r.apply(root); err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(root, r.Package, "*_test.go"))
	if err != nil {
		return err
	}
	for _, f := range files {
		text, err := os.ReadFile(f) // #nosec G304 -- found above
		if err != nil {
			return err
		}
		if strings.Contains(string(text), "\nfunc "+r.Test+"(t *testing.T)") {
			return nil
		}
	}
	return fmt.Errorf("%s has no test %s", r.Package, r.Test)
}

// Mutate copies the schema of the repository at root into dir, without the guard.
func (r Row) Mutate(root, dir string) error {
	text, err := r.apply(root)
	if err != nil {
		return err
	}
	return copySchema(filepath.Join(root, schemaFolder), dir, strings.TrimPrefix(r.File, schemaFolder+"/"), text)
}

// copySchema copies a schema to a folder, with another text for one file.
func copySchema(from, to, file, text string) error {
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(to, filepath.FromSlash(file)), []byte(text), 0o600)
}
