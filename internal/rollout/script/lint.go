package script

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Warning is what a person should know before a statement runs.
type Warning struct {
	// Statement is its index in the script, -1 for the script as a whole.
	Statement int
	Line      int
	// Code never changes its meaning: programs branch on it.
	Code string
	// What it does, why that hurts, and the safer form.
	What, Why, Instead string
	Severity           string
}

// The severities.
const (
	Danger  = "danger"
	Caution = "warning"
)

// Stats are the estimated rows of tables, by name with or without the schema.
// A table that is not in it may have any number.
type Stats map[string]int64

// small is how many rows make no difference: to lock, check or write them takes
// less time than a lock is waited for.
const small = 10_000

// rules are the codes: how bad it is, and why.
var rules = map[string]struct{ severity, why string }{
	"table_rewrite":        {Danger, "The table is written anew while reads and writes of it wait, and needs its size once more on the disk."},
	"full_lock":            {Danger, "Reads and writes of the table wait until this is done."},
	"write_lock":           {Danger, "Writes to the table wait until this is done."},
	"index_not_concurrent": {Danger, "Writes to the table wait until the index is built."},
	"not_null":             {Danger, "All rows are checked while reads and writes of the table wait."},
	"not_null_no_default":  {Danger, "Rows that are there have no value for it: PostgreSQL refuses, MySQL puts in an empty one that nobody chose."},
	"foreign_key":          {Danger, "Both tables take no writes while all rows are checked."},
	"check":                {Danger, "All rows are checked while reads and writes of the table wait."},
	"drop":                 {Danger, "What is dropped is gone, and programs that still use it fail at once."},
	"truncate":             {Danger, "All rows are gone, and reads and writes wait until the transaction is over."},
	"rename":               {Danger, "Programs that use the old name fail at once, also those that are not yet updated."},
	"data_without_where":   {Danger, "Every row is written in one transaction: rows stay locked and dead rows pile up until it ends."},
	"lock_held":            {Caution, "Locks are held until the transaction ends, so reads and writes wait while the rows are changed."},
	"mixed_transaction":    {Caution, "What came before is committed by then: if a later statement fails, the earlier ones stay."},
	"not_atomic":           {Caution, "MySQL commits each of them by itself: if one fails, those before it stay."},
	"unnamed_index":        {Caution, "If the connection is lost while it is built, nothing tells whether it is there."},
	"index_if_not_exists":  {Caution, "An invalid index that an earlier try left is taken for a good one."},
	"sets_timeout":         {Caution, "It undoes the limit that keeps a waiting change from stopping everybody else."},
	"unlimited":            {Caution, "A statement of this file may run, and hold its locks, for ever."},
	"transaction_control":  {Caution, "The statements of a file share a transaction anyway, so BEGIN and COMMIT are left out."},
	"directive_late":       {Caution, "Directives count above the first statement only, so this one does nothing."},
	"no_algorithm":         {Caution, "If MySQL cannot do it in place, it copies the table without a word, and writes wait."},
	"other_database":       {Caution, "The history is kept in the database of the plan, so this change is known there and not where it ran."},
	"placeholder":          {Caution, "Flyway replaces it before it sends the file; Weir sends the file as it is, so the text stays."},
	"empty":                {Caution, "The change is recorded as applied, and nothing runs."},
}

// linter collects the warnings of one change.
type linter struct {
	stats Stats
	made  map[string]bool // tables that the change itself makes: nobody waits for them
	out   []Warning
	now   *statement
}

// Lint reads what a change does to a database that is in use. It has no opinion
// on tables that the change makes itself. Warnings are in the order of the
// statements, those of the whole script first. The error is a *Fault.
func Lint(e Engine, c Change, stats Stats) ([]Warning, error) {
	found, begin, err := statements(e, c)
	if err != nil {
		return nil, err
	}
	l := &linter{stats: stats, made: map[string]bool{}}
	l.script(e, c, found, begin)
	for i := range found {
		l.now = &found[i]
		if at := placeholderIn.FindString(found[i].Text); at != "" {
			l.warn("placeholder", "", "has "+excerpt(at)+" in a text", "write the value; files that differ by database are changes of a rollout of their own")
		}
		if e == Postgres {
			l.postgres(found[i].node)
		} else {
			l.mysql(found[i].head, found[i].Tag)
		}
	}
	if e == Postgres && c.Transaction {
		l.lockHeld(found)
	}
	slices.SortStableFunc(l.out, func(a, b Warning) int { return cmp.Compare(a.Statement, b.Statement) })
	return l.out, nil
}

// warn adds a warning about the statement at hand. A table of few rows makes a
// danger a caution.
func (l *linter) warn(code, table, what, instead string) {
	rule := rules[code]
	w := Warning{Statement: -1, Line: 1, Code: code, What: what, Why: rule.why, Instead: instead, Severity: rule.severity}
	if l.now != nil {
		w.Statement, w.Line = l.now.Index, l.now.Line
	}
	if rows, known := l.rows(table); known {
		w.What += fmt.Sprintf(" (about %s rows)", thousands(rows))
		if rows < small && code != "drop" && code != "truncate" && code != "rename" {
			w.Severity = Caution
		}
	}
	l.out = append(l.out, w)
}

// rows are those of a table, if somebody counted them.
func (l *linter) rows(table string) (int64, bool) {
	if table == "" {
		return 0, false
	}
	for _, name := range []string{table, "public." + table, strings.TrimPrefix(table, "public.")} {
		if rows, ok := l.stats[name]; ok && rows >= 0 {
			return rows, true
		}
	}
	return 0, false
}

// make and isNew keep what the change makes itself.
func (l *linter) make(table string)       { l.made[strings.TrimPrefix(table, "public.")] = true }
func (l *linter) isNew(table string) bool { return l.made[strings.TrimPrefix(table, "public.")] }

// script warns about the file as a whole.
func (l *linter) script(e Engine, c Change, found []statement, begin *statement) {
	if len(found) == 0 {
		l.warn("empty", "", "the script has no statement", "take the file out, or write what is missing")
		return
	}
	if c.Unlimited {
		l.warn("unlimited", "", "statements have no time limit", "name a limit that is long enough: statement_timeout=2h")
	}
	if begin != nil {
		l.now = begin
		l.warn("transaction_control", "", "BEGIN and COMMIT stand around the script", "take them out")
		l.now = nil
	}
	number := 0
	for line := range strings.Lines(c.SQL) {
		number++
		if number > found[0].Line && directiveLine.MatchString(strings.TrimSpace(line)) {
			l.warn("directive_late", "", excerpt(line), "move it above the first statement")
			l.out[len(l.out)-1].Line = number
		}
	}
	l.mixed(e, c, found)
}

// mixed warns about scripts that are not applied as a whole.
func (l *linter) mixed(e Engine, c Change, found []statement) {
	if len(found) < 2 || !c.Transaction {
		return
	}
	for i := range found {
		if !found[i].Alone {
			continue
		}
		l.now = &found[i]
		if e == MySQL {
			l.warn("not_atomic", "", fmt.Sprintf("%s is one of %d statements", article(found[i].Tag), len(found)), "write one such statement in each file")
		} else {
			l.warn("mixed_transaction", "", fmt.Sprintf("%s cannot share a transaction with the others of this file", article(found[i].Tag)), "put it into a file of its own, or say -- weir: transaction=off")
		}
		l.now = nil
		return
	}
}

// lockHeld warns about rows that are changed while a table is locked: the first
// such pair of a transaction.
func (l *linter) lockHeld(found []statement) {
	locked := ""
	for i := range found {
		s := &found[i]
		if s.Alone {
			locked = ""
			continue
		}
		if locked != "" && dataWords[s.Tag] && s.Tag != "INSERT" {
			l.now = s
			l.warn("lock_held", "", fmt.Sprintf("%s runs while %s is locked by an earlier statement", article(s.Tag), locked), "put the change of data into a file of its own")
			return
		}
		for _, lock := range s.Locks {
			if lock.Mode == accessExclusive && !l.isNew(lock.Object) {
				locked = lock.Object
			}
		}
	}
}

// thousands writes 1200000 as 1,200,000.
func thousands(n int64) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
