package script

import (
	"fmt"
	"strings"
)

// Statement is one statement of a script.
type Statement struct {
	// Text is without its delimiter and without the comments before it.
	Text string
	// Index counts from 0. Line, EndLine count from 1, Offset is in bytes.
	Index, Line, EndLine, Offset int
	// Tag names it as the server does: CREATE INDEX.
	Tag string
	// Alone says that it cannot share a transaction: it is a step of its own.
	Alone bool
	Kind  Kind
	// Locks are what it takes on things that others use.
	Locks []Lock
	// Probe finds out whether it ran, if no history row can say so.
	Probe *Probe
}

// Title is the tag as people write it: with CONCURRENTLY where the statement says so,
// for that is what tells whom it stops.
func (s Statement) Title() string {
	if !s.Alone {
		return s.Tag
	}
	for _, p := range postgres.pieces(s.Text, titlePieces) {
		if p.is("CONCURRENTLY") {
			return s.Tag + " CONCURRENTLY"
		}
	}
	return s.Tag
}

// titlePieces is how far into a statement CONCURRENTLY is looked for.
const titlePieces = 16

// Lock is what a statement takes and who waits for it meanwhile.
type Lock struct {
	Object string
	// Mode is as pg_locks or metadata_locks name it.
	Mode string
	// Blocks says who waits: "reads and writes", "writes", …
	Blocks string
}

// What a probe looks for.
const (
	ProbeIndex        = "index" // PostgreSQL: there and valid
	ProbeTypeValue    = "type value"
	ProbeDatabase     = "database"
	ProbeTablespace   = "tablespace"
	ProbeSubscription = "subscription"
	ProbePartition    = "partition" // Name is a partition of Table
	ProbeTable        = "table"
	ProbeColumn       = "column"
	ProbeConstraint   = "constraint"
	ProbeView         = "view"
	ProbeRoutine      = "routine"
	ProbeTrigger      = "trigger"
	ProbeEvent        = "event"
	ProbeUser         = "user"
	// ProbeRepeat looks for nothing: to run the statement again does no harm.
	ProbeRepeat = "repeat"
)

// Probe is how to find out, after a lost connection, whether a statement ran
// that no transaction ties to the history.
type Probe struct {
	What string
	// Schema is empty for the one that the session finds first.
	Schema, Name string
	// Table is the table of an index, column, constraint or partition.
	Table string
	// Value is the value of a type.
	Value string
	// Gone turns it about: the statement ran if the thing is not there.
	Gone bool
	// Drop is SQL that removes what is half made, so that it can be made again.
	Drop string
}

// statement is a Statement with what the engine's reader knows of it.
type statement struct {
	Statement
	node node    // of PostgreSQL
	head []piece // of MySQL
	// session says that it sets up the session, not the database.
	session bool
	// control is BEGIN, COMMIT or ROLLBACK if it is one of them.
	control string
}

// Split reads a script into its statements. The error is a *Fault.
func Split(e Engine, sql string) ([]Statement, error) {
	found, fault := split(e, sql)
	if fault != nil {
		return nil, fault
	}
	out := make([]Statement, len(found))
	for i := range found {
		out[i] = found[i].Statement
	}
	return out, nil
}

func split(e Engine, sql string) ([]statement, *Fault) {
	if fault := encoding(sql); fault != nil {
		return nil, fault
	}
	var found []statement
	var fault *Fault
	switch e {
	case Postgres:
		found, fault = splitPostgres(sql)
	case MySQL:
		found, fault = splitMySQL(sql)
	default:
		fault = &Fault{What: fmt.Sprintf("there is no engine %q", e), Next: "use postgres or mysql"}
	}
	if fault != nil {
		return nil, fault
	}
	line, at := 1, 0 // carried on, so that a long script is read once
	for i := range found {
		s := &found[i]
		s.Index = i
		line += strings.Count(sql[at:s.Offset], "\n")
		at = s.Offset
		s.Line, s.EndLine = line, line+strings.Count(s.Text, "\n")
	}
	return found, nil
}
