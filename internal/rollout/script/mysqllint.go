package script

import "fmt"

const (
	inPlace = "say ALGORITHM=INPLACE, LOCK=NONE (or ALGORITHM=INSTANT): MySQL then refuses instead of copying; for a large table use gh-ost or pt-online-schema-change"
	swap    = "add the new one, write both, move the rows, and drop the old one later"
)

// mysql warns about one statement.
func (l *linter) mysql(p []piece, tag string) {
	at := after(p, 0, "TABLE")
	first, _ := readObject(p, at)
	table := first.String()
	switch tag {
	case "CREATE TABLE":
		l.make(table)
	case "ALTER TABLE":
		if !l.isNew(table) {
			l.mysqlAlter(p, table)
		}
	case "CREATE INDEX":
		on, _ := readObject(p, after(p, after(p, 0, "INDEX"), "ON"))
		if l.isNew(on.String()) {
			return
		}
		l.mysqlIndex(p, on.String())
	case "DROP TABLE":
		for _, lock := range l.now.Locks {
			if !l.isNew(lock.Object) {
				l.warn("drop", lock.Object, "drops the table "+lock.Object, "rename it first, and drop it some days later when nobody has missed it")
			}
		}
	case "DROP DATABASE", "DROP SCHEMA", "DROP VIEW", "DROP PROCEDURE", "DROP FUNCTION":
		l.warn("drop", "", "a "+tag, "be sure that no program uses it any more")
	case "RENAME TABLE":
		if !l.isNew(table) {
			l.warn("rename", table, "renames "+table, "leave a view of the old name behind, and drop it when nobody uses it")
		}
	case "TRUNCATE TABLE":
		if at == 0 {
			first, _ = readObject(p, 1)
			table = first.String()
		}
		if !l.isNew(table) {
			l.warn("truncate", table, "empties "+table, "be sure that nobody needs the rows, and keep a backup")
		}
	case "UPDATE", "DELETE":
		if len(l.now.Locks) > 0 && !has(p, "WHERE") && !has(p, "LIMIT") && !l.isNew(l.now.Locks[0].Object) {
			on := l.now.Locks[0].Object
			l.warn("data_without_where", on, fmt.Sprintf("%s of every row of %s", tag, on), "change some thousand rows at a time, each in a transaction of its own")
		}
	case "LOCK TABLE":
		l.warn("full_lock", "", "locks tables", "leave it out: each statement takes the lock it needs")
	case "OPTIMIZE", "REPAIR":
		l.warn("table_rewrite", "", tag+" builds tables again", "do it when nobody works")
	case "SET":
		for _, name := range []string{"LOCK_WAIT_TIMEOUT", "INNODB_LOCK_WAIT_TIMEOUT", "MAX_STATEMENT_TIME", "MAX_EXECUTION_TIME"} {
			if has(p, name) {
				l.warn("sets_timeout", "", "sets one of the timeouts", "write -- weir: lock_timeout=… statement_timeout=… above the first statement")
				return
			}
		}
	case "USE":
		l.warn("other_database", "", "goes to another database", "register that database and give it changes of its own")
	}
}

// mysqlIndex warns about CREATE INDEX.
func (l *linter) mysqlIndex(p []piece, table string) {
	switch {
	case hint(p, "ALGORITHM") == "COPY", hint(p, "LOCK") == "EXCLUSIVE", hint(p, "LOCK") == "SHARED":
		l.warn("write_lock", table, fmt.Sprintf("builds an index on %s while writes wait", table), inPlace)
	case has(p[:min(3, len(p))], "FULLTEXT"), has(p[:min(3, len(p))], "SPATIAL"):
		l.warn("write_lock", table, fmt.Sprintf("a full-text or spatial index on %s is built without writes", table), "do it when nobody works, or use gh-ost or pt-online-schema-change")
	case hint(p, "ALGORITHM") == "" && hint(p, "LOCK") == "":
		l.warn("no_algorithm", table, fmt.Sprintf("builds an index on %s without ALGORITHM and LOCK", table), inPlace)
	}
}

// mysqlAlter warns about the parts of an ALTER TABLE.
func (l *linter) mysqlAlter(p []piece, table string) {
	_, parts := actions(p)
	algorithm, lock := hint(p, "ALGORITHM"), hint(p, "LOCK")
	refuses := algorithm == "INPLACE" || algorithm == "INSTANT" || algorithm == "NOCOPY" || lock == "NONE"
	why := copies(p)
	switch {
	case algorithm == "COPY":
		l.warn("table_rewrite", table, fmt.Sprintf("ALGORITHM=COPY copies %s", table), inPlace)
	case lock == "EXCLUSIVE":
		l.warn("full_lock", table, fmt.Sprintf("LOCK=EXCLUSIVE on %s", table), inPlace)
	case why != "" && !refuses:
		l.warn("table_rewrite", table, fmt.Sprintf("writes %s anew: %s", table, why), inPlace)
	case !refuses:
		l.warn("no_algorithm", table, fmt.Sprintf("changes %s without ALGORITHM and LOCK", table), inPlace)
	}
	for _, part := range parts {
		l.mysqlPart(part, table)
	}
}

func (l *linter) mysqlPart(p []piece, table string) {
	switch probe := partProbe(p); {
	case starts(p, "DROP") && probe != nil && probe.What == ProbeColumn:
		l.warn("drop", table, fmt.Sprintf("drops the column %s of %s", probe.Name, table), "first let no program read or write it, and drop it in a later rollout")
	case starts(p, "DROP", "PARTITION"), starts(p, "TRUNCATE", "PARTITION"):
		l.warn("drop", table, "drops the rows of a partition of "+table, "be sure that nobody needs the rows, and keep a backup")
	case starts(p, "CHANGE") && probe != nil && probe.What == ProbeColumn, starts(p, "RENAME", "COLUMN"):
		l.warn("rename", table, fmt.Sprintf("renames a column of %s to %s", table, probe.Name), swap)
	case starts(p, "RENAME") && probe != nil && probe.What == ProbeTable:
		l.warn("rename", table, fmt.Sprintf("renames %s to %s", table, probe.Name), "leave a view of the old name behind, and drop it when nobody uses it")
	case starts(p, "ADD") && has(p, "FOREIGN", "KEY"):
		l.warn("foreign_key", table, fmt.Sprintf("a foreign key on %s: MySQL copies the table to check it", table), "do it when nobody works, or keep the rule in the program")
	case starts(p, "ADD") && has(p, "NOT", "NULL") && !has(p, "DEFAULT") && !has(p, "AUTO_INCREMENT") && probe != nil && probe.What == ProbeColumn:
		l.warn("not_null_no_default", table, fmt.Sprintf("adds %s.%s, NOT NULL without a default", table, probe.Name), "give it a default")
	}
}
