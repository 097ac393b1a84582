package script

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Ignored is a file that does not run, and why.
type Ignored struct{ File, Why string }

var goMigration = regexp.MustCompile(`^[0-9]+_.*\.go$`)

// ReadDir reads the SQL files of a folder, in the order in which they run: by
// version, then the repeatable ones by name. A file of SQL whose name gives it
// no place in that order is an error: passed over it would be missed by nobody
// until it is needed. Folders in it are not read.
func ReadDir(fsys fs.FS) ([]Change, []Ignored, error) {
	entries, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return nil, nil, fmt.Errorf("read the folder of changes: %w", err)
	}
	var changes []Change
	var ignored []Ignored
	for _, entry := range entries {
		file := entry.Name()
		name, why, fault := sort(entry)
		if fault != nil {
			return nil, nil, fault
		}
		if why != "" {
			ignored = append(ignored, Ignored{file, why})
			continue
		}
		text, err := fs.ReadFile(fsys, file)
		if err != nil {
			return nil, nil, fmt.Errorf("read %s: %w", file, err)
		}
		c, err := Read(file, text)
		if err != nil {
			return nil, nil, err
		}
		if c.Version == "" && name.role != repeatable {
			return nil, nil, &Fault{File: file, What: "the name has no version, so its place in the order is unknown", Next: "name it V1__title.sql, 0001_title.sql or 0001_title.up.sql; R__title.sql if it repeats"}
		}
		if err := flywayConfig(fsys, file, &c); err != nil {
			return nil, nil, err
		}
		changes = append(changes, c)
	}
	if err := order(changes); err != nil {
		return nil, nil, err
	}
	return changes, ignored, nil
}

// sort tells what to do with an entry of a folder: read it, or why not.
func sort(entry fs.DirEntry) (name fileName, why string, fault *Fault) {
	if entry.IsDir() {
		return name, "is a folder: give it by itself", nil
	}
	return sortFile(entry.Name())
}

// Passed says why a file of this name is passed over in a folder; empty: it is not.
func Passed(file string) (why string) {
	_, why, _ = sortFile(file)
	return why
}

func sortFile(file string) (name fileName, why string, fault *Fault) {
	switch {
	case strings.HasPrefix(file, "."):
		return name, "is hidden", nil
	case strings.HasSuffix(strings.ToLower(file), ".sql.conf"):
		return name, "says how its file runs: only executeInTransaction is read", nil
	case goMigration.MatchString(file):
		return name, "is written in Go: run it with goose, or write it in SQL", nil
	case !sqlFile.MatchString(file):
		return name, "is not SQL", nil
	}
	name, fault = parseName(file)
	if fault == nil {
		why = left[name.role]
	}
	return name, why, fault
}

// flywayConfig reads the settings that Flyway keeps beside a script.
func flywayConfig(fsys fs.FS, file string, c *Change) error {
	text, err := fs.ReadFile(fsys, path.Clean(file+".conf"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read %s.conf: %w", file, err)
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		key, value, _ := strings.Cut(lines.Text(), "=")
		if strings.TrimSpace(key) != "executeInTransaction" {
			continue
		}
		switch strings.TrimSpace(value) {
		case "true":
		case "false":
			c.Transaction = false
		default:
			return &Fault{File: file + ".conf", What: fmt.Sprintf("executeInTransaction=%s is neither true nor false", excerpt(value)), Next: "write executeInTransaction=false"}
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read %s.conf: %w", file, err)
	}
	return nil
}

// order sorts changes as they run and refuses two of one version or name.
func order(changes []Change) error {
	ranks := make(map[string]int64, len(changes))
	for _, c := range changes {
		if c.Version == "" {
			continue
		}
		rank, err := Rank(c.Version)
		if err != nil {
			return err
		}
		ranks[c.File] = rank
	}
	slices.SortStableFunc(changes, func(a, b Change) int {
		if a.Repeatable != b.Repeatable {
			if b.Repeatable {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(ranks[a.File], ranks[b.File]), cmp.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)), cmp.Compare(a.File, b.File))
	})
	for i := 1; i < len(changes); i++ {
		a, b := changes[i-1], changes[i]
		if a.Version != "" && a.Version == b.Version {
			return &Fault{File: b.File, What: fmt.Sprintf("%s and %s are both version %s", a.File, b.File, a.Version), Next: "give one of them the next free version"}
		}
		if a.Repeatable && b.Repeatable && strings.EqualFold(a.Name, b.Name) {
			return &Fault{File: b.File, What: fmt.Sprintf("%s and %s have one name", a.File, b.File), Next: "rename one of them: a change that repeats is known by its name"}
		}
	}
	return nil
}
