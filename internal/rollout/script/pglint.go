package script

import (
	"fmt"
	"strings"
)

// postgres warns about one statement.
func (l *linter) postgres(n node) {
	table := relation(n.at("relation"))
	switch n.kind {
	case "CreateStmt":
		l.make(table)
	case "CreateTableAsStmt":
		l.make(relation(n.at("into").at("rel")))
	case "AlterTableStmt":
		if !l.isNew(table) {
			for _, cmd := range n.list("cmds") {
				l.alter(table, cmd, cmd.node("def"))
			}
		}
	case "IndexStmt":
		l.index(n, table)
	case "DropStmt":
		l.dropped(n)
	case "DropdbStmt":
		l.warn("drop", "", "drops the database "+n.text("dbname"), "be sure that nobody uses it, and keep a backup")
	case "RenameStmt":
		l.renamed(n, table)
	case "AlterObjectSchemaStmt":
		if table != "" && !l.isNew(table) {
			l.warn("rename", table, fmt.Sprintf("moves %s to the schema %s", table, n.text("newschema")), "leave a view of the old name behind, and drop it when nobody uses it")
		}
	case "AlterEnumStmt":
		if n.text("oldVal") != "" {
			l.warn("rename", "", "renames the value "+n.text("oldVal"), "add the new value, move the rows, and leave the old one unused")
		}
	case "VariableSetStmt":
		if setting := strings.ToLower(n.text("name")); setting == "lock_timeout" || setting == "statement_timeout" {
			l.warn("sets_timeout", "", "sets "+setting, fmt.Sprintf("write -- weir: %s=… above the first statement", setting))
		}
	default:
		l.upkeep(n, table)
	}
}

// upkeep warns about changes of rows and care of tables.
func (l *linter) upkeep(n node, table string) {
	switch n.kind {
	case "UpdateStmt", "DeleteStmt":
		if !n.has("whereClause") && !l.isNew(table) {
			instead := "change some thousand rows at a time, each in a transaction of its own"
			if n.kind == "DeleteStmt" {
				instead += "; TRUNCATE if all shall go"
			}
			l.warn("data_without_where", table, fmt.Sprintf("%s of every row of %s", l.now.Tag, table), instead)
		}
	case "TruncateStmt":
		for _, r := range n.list("relations") {
			if one := relation(r.tree); !l.isNew(one) {
				l.warn("truncate", one, "empties "+one, "be sure that nobody needs the rows, and keep a backup")
			}
		}
	case "LockStmt":
		for _, r := range n.list("relations") {
			if one := relation(r.tree); n.number("mode") >= strength(share) && !l.isNew(one) {
				l.warn("full_lock", one, "locks "+one, "leave it out: each statement takes the lock it needs")
			}
		}
	case "VacuumStmt":
		if n.on("options", "full") {
			l.warn("table_rewrite", "", "VACUUM FULL writes tables anew", "use plain VACUUM, or pg_repack if the space must come back")
		}
	case "ClusterStmt":
		l.warn("table_rewrite", table, "CLUSTER writes the table anew", "use pg_repack, or do it when nobody works")
	case "ReindexStmt":
		if !n.on("params", "concurrently") && !l.isNew(table) {
			l.warn("index_not_concurrent", "", "REINDEX without CONCURRENTLY", "say REINDEX … CONCURRENTLY")
		}
	case "RefreshMatViewStmt":
		if !n.flag("concurrent") && !l.isNew(table) {
			l.warn("full_lock", table, "refreshes "+table+" while its readers wait", "say REFRESH MATERIALIZED VIEW CONCURRENTLY (it needs a unique index)")
		}
	}
}

// index warns about a new index.
func (l *linter) index(n node, table string) {
	switch {
	case l.isNew(table):
	case !n.flag("concurrent"):
		l.warn("index_not_concurrent", table, fmt.Sprintf("builds an index on %s without CONCURRENTLY", table), "say CREATE INDEX CONCURRENTLY: it runs as a step of its own")
	case n.text("idxname") == "":
		l.warn("unnamed_index", table, fmt.Sprintf("the index on %s has no name", table), "give it one")
	case n.flag("if_not_exists"):
		l.warn("index_if_not_exists", table, fmt.Sprintf("IF NOT EXISTS with CONCURRENTLY on %s", table), "leave IF NOT EXISTS out: a try that was cut off is found and cleaned up")
	}
}

// dropped warns about what goes.
func (l *linter) dropped(n node) {
	kind := n.text("removeType")
	for _, object := range n.list("objects") {
		name := strings.Join(names(object), ".")
		switch {
		case l.isNew(name):
		case kind == "OBJECT_INDEX":
			if !n.flag("concurrent") {
				l.warn("full_lock", "", fmt.Sprintf("drops the index %s without CONCURRENTLY", name), "say DROP INDEX CONCURRENTLY: reads and writes of its table go on")
			}
		case kind == "OBJECT_TABLE":
			l.warn("drop", name, "drops the table "+name, "rename it first, and drop it some days later when nobody has missed it")
		case kind == "OBJECT_SCHEMA", kind == "OBJECT_MATVIEW", kind == "OBJECT_VIEW", kind == "OBJECT_TYPE", kind == "OBJECT_SEQUENCE", kind == "OBJECT_FOREIGN_TABLE", kind == "OBJECT_EXTENSION":
			what := strings.ToLower(strings.TrimPrefix(l.now.Tag, "DROP "))
			l.warn("drop", "", fmt.Sprintf("drops the %s %s", what, name), "be sure that no program uses it any more")
		}
	}
}

// renamed warns about names that others still use.
func (l *linter) renamed(n node, table string) {
	if l.isNew(table) {
		return
	}
	switch n.text("renameType") {
	case "OBJECT_TABLE", "OBJECT_VIEW", "OBJECT_MATVIEW":
		l.warn("rename", table, fmt.Sprintf("renames %s to %s", table, n.text("newname")), "leave a view of the old name behind, and drop it when nobody uses it")
	case "OBJECT_COLUMN":
		l.warn("rename", table, fmt.Sprintf("renames the column %s of %s to %s", n.text("subname"), table, n.text("newname")), "add the new column, write both, move the rows, and drop the old one later")
	case "OBJECT_SCHEMA":
		l.warn("rename", "", fmt.Sprintf("renames the schema %s to %s", n.text("subname"), n.text("newname")), "make a new one, and move things when nobody uses them")
	}
}
