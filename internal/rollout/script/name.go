package script

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"strings"
)

// role is what a file is for, as its name says.
type role int

const (
	apply role = iota
	repeatable
	undo
	baseline
	callback
)

// fileName is what the name of a file says.
type fileName struct {
	version string
	title   string
	role    role
}

// left says why files of a role do not run.
var left = map[role]string{
	undo:     "undoes a change: Weir only goes forward, so write a new change",
	baseline: "is a baseline of Flyway: import the history of a database instead",
	callback: "is a callback of Flyway: Weir runs changes only",
}

var (
	sqlFile       = regexp.MustCompile(`(?i)\.sql$`)
	flywayFile    = regexp.MustCompile(`(?i)^([VUB])([0-9][0-9._]*?)__(.+)\.sql$`)
	flywayRepeat  = regexp.MustCompile(`(?i)^R__(.+)\.sql$`)
	flywayAlmost  = regexp.MustCompile(`(?i)^([VUB][0-9]|R_)`)
	flywayEvent   = regexp.MustCompile(`^(before|after|create)[A-Z][A-Za-z]*(__.+)?\.sql$`)
	migrateFile   = regexp.MustCompile(`(?i)^([0-9]+)_(.+)\.(up|down)\.sql$`)
	numberedFile  = regexp.MustCompile(`(?i)^([0-9]+(?:\.[0-9]+)*)(?:[_\- ]+(.+))?\.sql$`)
	dateFile      = regexp.MustCompile(`^[0-9]{4}[-_.][0-9]{2}[-_.][0-9]{2}([^0-9]|$)`)
	directionFile = regexp.MustCompile(`(?i)\.(up|down)\.sql$`)
)

// parseName reads the name of a file. A name without a version is one of a
// change that has none: whoever reads a folder refuses it.
func parseName(file string) (fileName, *Fault) {
	base := path.Base(file)
	if m := flywayFile.FindStringSubmatch(base); m != nil {
		roles := map[string]role{"V": apply, "U": undo, "B": baseline}
		return versioned(file, m[2], m[3], roles[strings.ToUpper(m[1])])
	}
	if m := flywayRepeat.FindStringSubmatch(base); m != nil {
		return fileName{title: m[1], role: repeatable}, nil
	}
	if flywayAlmost.MatchString(base) {
		return fileName{}, &Fault{
			File: file, What: fmt.Sprintf("%s looks like a name of Flyway but is none", base),
			Next: "put two underscores before the title: V1.2__title.sql, or R__title.sql for one that repeats",
		}
	}
	if flywayEvent.MatchString(base) {
		return fileName{title: title(base), role: callback}, nil
	}
	if dateFile.MatchString(base) {
		return fileName{}, &Fault{
			File: file, What: fmt.Sprintf("%s begins with a date, and its dashes make it unclear where the version ends", base),
			Next: "write the date as one number: 20260131_title.sql, or 20260131120000_title.sql if there may be two in a day",
		}
	}
	if m := migrateFile.FindStringSubmatch(base); m != nil {
		r := apply
		if strings.EqualFold(m[3], "down") {
			r = undo
		}
		return versioned(file, m[1], m[2], r)
	}
	if m := numberedFile.FindStringSubmatch(base); m != nil {
		return versioned(file, m[1], m[2], apply)
	}
	if m := directionFile.FindStringSubmatch(base); m != nil && strings.EqualFold(m[1], "down") {
		return fileName{title: title(base), role: undo}, nil
	}
	return fileName{title: title(base)}, nil
}

func versioned(file, version, text string, r role) (fileName, *Fault) {
	canonical, err := Canonical(version)
	if err == nil {
		_, err = Rank(canonical)
	}
	if err != nil {
		var fault *Fault
		if !errors.As(err, &fault) {
			fault = &Fault{What: err.Error()}
		}
		return fileName{}, fault.in(file)
	}
	if text == "" {
		text = title(path.Base(file))
	}
	return fileName{version: canonical, title: text, role: r}, nil
}

// title is a name without what says that it is SQL.
func title(base string) string {
	base = directionFile.ReplaceAllString(base, "")
	return sqlFile.ReplaceAllString(base, "")
}
