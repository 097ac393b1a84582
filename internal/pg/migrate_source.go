package pg

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// source is the schema of this binary, read from its folders.
type source struct {
	migrationsFS fs.FS
	migrations   []migration // by version
	objects      []object    // functions by name, then views by name
	// grants are the rights on the objects. The file runs after them whenever one of them
	// changed, because every role may call a new function until then.
	grants *object
	// version is the number of released versions of objects and grants; hash is the hash
	// of this one. A draft has content of no released version: a developer works on it.
	version int64
	hash    string
	draft   bool
}

// migration is a file of migrations/, named 0001_tables.sql.
type migration struct {
	version  int64
	name     string
	breaking bool
}

// object is a file of functions/ or views/. Applying it again must be harmless: it holds
// CREATE OR REPLACE statements and their comments and grants.
type object struct {
	file, text, hash string
	// names are the routines and views that the file makes, with their schema.
	names []string
}

const (
	grantsFile = "grants.sql"
	// versionsFile has a line for each version of objects and grants, the hash of
	// their content, the latest last.
	versionsFile = "versions.txt"
)

var (
	migrationName = regexp.MustCompile(`^(\d+)_.*\.sql$`)
	breakingLine  = regexp.MustCompile(`(?m)^--\s*weir:breaking\b`)
	createLine    = regexp.MustCompile(`(?im)^\s*create\s+or\s+replace\s+(?:function|procedure|view)\s+((?:weir|flow|fleet)\.\w+)`)
)

func readSource(fsys fs.FS) (*source, error) {
	s := &source{}
	var err error
	if s.migrationsFS, err = fs.Sub(fsys, "migrations"); err != nil {
		return nil, err
	}
	err = eachFile(fsys, "migrations", func(name, text string) error {
		m := migrationName.FindStringSubmatch(path.Base(name))
		if m == nil {
			return fmt.Errorf("%s: a migration is named like 0001_tables.sql", name)
		}
		version, err := strconv.ParseInt(m[1], 10, 64)
		if err != nil || version == 0 {
			return fmt.Errorf("%s: the version must be a number from 1 on", name)
		}
		s.migrations = append(s.migrations, migration{version, path.Base(name), breakingLine.MatchString(text)})
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(s.migrations, func(a, b migration) int { return cmp.Compare(a.version, b.version) })
	for _, dir := range []string{"functions", "views"} {
		err := eachFile(fsys, dir, func(name, text string) error {
			o := newObject(name, text)
			for _, m := range createLine.FindAllStringSubmatch(text, -1) {
				o.names = append(o.names, m[1])
			}
			if len(o.names) == 0 {
				return fmt.Errorf("%s: no CREATE OR REPLACE FUNCTION, PROCEDURE or VIEW weir.…, flow.… or fleet.… in it", name)
			}
			s.objects = append(s.objects, o)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	if text, err := fs.ReadFile(fsys, grantsFile); err == nil {
		grants := newObject(grantsFile, string(text))
		s.grants = &grants
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return s, s.readVersions(fsys)
}

// readVersions numbers the content: the last line of the file is its hash, and the count
// of lines its number.
func (s *source) readVersions(fsys fs.FS) error {
	sum := sha256.New()
	for _, o := range s.objects {
		fmt.Fprintf(sum, "%s %s\n", o.file, o.hash)
	}
	if s.grants != nil {
		fmt.Fprintf(sum, "%s %s\n", s.grants.file, s.grants.hash)
	}
	s.hash = hex.EncodeToString(sum.Sum(nil))[:24]
	lines, err := versionLines(fsys)
	s.version = int64(len(lines))
	s.draft = len(lines) == 0 || lines[len(lines)-1] != s.hash
	return err
}

func versionLines(fsys fs.FS) ([]string, error) {
	text, err := fs.ReadFile(fsys, versionsFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return strings.Fields(string(text)), err
}

// NextVersion returns the line to add to versions.txt if functions, views or grants in
// fsys differ from its last line; "" if they do not.
func NextVersion(fsys fs.FS) (string, error) {
	s, err := readSource(fsys)
	if err != nil || !s.draft {
		return "", err
	}
	return s.hash, nil
}

func newObject(name, text string) object {
	sum := sha256.Sum256([]byte(text))
	return object{file: name, text: text, hash: hex.EncodeToString(sum[:])}
}

// eachFile calls do for the SQL files of a folder and of the folders in it, in the order of
// their names. A file is identified by its name without the folder of its domain, because
// databases know the objects of earlier releases by it. A missing folder is empty.
func eachFile(fsys fs.FS, dir string, do func(name, text string) error) error {
	files := map[string]string{}
	err := fs.WalkDir(fsys, dir, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path.Ext(file) != ".sql" {
			return err
		}
		name := path.Join(dir, path.Base(file))
		if other := files[name]; other != "" {
			return fmt.Errorf("%s and %s have the same name", other, file)
		}
		files[name] = file
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		text, err := fs.ReadFile(fsys, files[name])
		if err != nil {
			return err
		}
		if err := do(name, string(text)); err != nil {
			return err
		}
	}
	return nil
}

// migration returns a migration of this binary by its version.
func (s *source) migration(version int64) (migration, bool) {
	i := slices.IndexFunc(s.migrations, func(m migration) bool { return m.version == version })
	if i < 0 {
		return migration{}, false
	}
	return s.migrations[i], true
}
