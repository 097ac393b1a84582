package script

import "strings"

// The modes, as pg_locks names them, weakest first.
const (
	accessShare     = "AccessShareLock"
	rowShare        = "RowShareLock"
	rowExclusive    = "RowExclusiveLock"
	shareUpdate     = "ShareUpdateExclusiveLock"
	share           = "ShareLock"
	shareRow        = "ShareRowExclusiveLock"
	exclusive       = "ExclusiveLock"
	accessExclusive = "AccessExclusiveLock"
)

// modes are in the order of LOCK TABLE's numbers, from 1.
var modes = []string{"", accessShare, rowShare, rowExclusive, shareUpdate, share, shareRow, exclusive, accessExclusive}

// blocks says who waits for a mode.
var blocks = map[string]string{
	accessShare:     "drops and most changes of the schema",
	rowShare:        "changes of the schema",
	rowExclusive:    "changes of the schema",
	shareUpdate:     "vacuum and changes of the schema",
	share:           "writes",
	shareRow:        "writes",
	exclusive:       "writes",
	accessExclusive: "reads and writes",
}

// strength compares modes.
func strength(mode string) int {
	for i, m := range modes {
		if m == mode {
			return i
		}
	}
	return 0
}

// held collects locks: the strongest mode for each object, in the order in
// which they are first taken.
type held []Lock

func (h *held) take(object, mode string) {
	if object == "" {
		return
	}
	for i := range *h {
		if (*h)[i].Object == object {
			if strength(mode) > strength((*h)[i].Mode) {
				(*h)[i].Mode, (*h)[i].Blocks = mode, blocks[mode]
			}
			return
		}
	}
	*h = append(*h, Lock{Object: object, Mode: mode, Blocks: blocks[mode]})
}

// postgresLocks are the locks that a statement takes on relations that were
// there before. They are those of the documentation of version 15; a table that
// the statement creates is nobody else's to wait for.
func postgresLocks(n node) []Lock {
	var h held
	switch n.kind {
	case "AlterTableStmt":
		alterLocks(n, &h)
	case "IndexStmt":
		mode := share
		if n.flag("concurrent") {
			mode = shareUpdate
		}
		h.take(relation(n.at("relation")), mode)
	case "DropStmt":
		dropLocks(n, &h)
	case "RenameStmt":
		mode := accessExclusive
		if n.text("renameType") == "OBJECT_INDEX" {
			mode = shareUpdate
		}
		h.take(relation(n.at("relation")), mode)
	case "AlterObjectSchemaStmt", "CreatePolicyStmt", "AlterPolicyStmt", "RuleStmt":
		h.take(relation(n.at("relation")), accessExclusive)
		h.take(relation(n.at("table")), accessExclusive)
	case "AlterSeqStmt":
		h.take(relation(n.at("sequence")), shareRow)
	case "CreateTrigStmt":
		h.take(relation(n.at("relation")), shareRow)
		h.take(relation(n.at("constrrel")), shareRow)
	case "CreateStmt":
		createLocks(n, &h)
	case "CommentStmt":
		commentLocks(n, &h)
	case "CreateStatsStmt":
		for _, r := range n.list("relations") {
			h.take(relation(r.tree), shareUpdate)
		}
	default:
		upkeepLocks(n, &h)
	}
	return h
}

// upkeepLocks are those of statements that care for tables, and of queries.
func upkeepLocks(n node, h *held) {
	switch n.kind {
	case "TruncateStmt":
		for _, r := range n.list("relations") {
			h.take(relation(r.tree), accessExclusive)
		}
	case "LockStmt":
		for _, r := range n.list("relations") {
			h.take(relation(r.tree), modes[min(max(n.number("mode"), 0), len(modes)-1)])
		}
	case "VacuumStmt":
		mode := shareUpdate
		if n.on("options", "full") {
			mode = accessExclusive
		}
		for _, r := range n.list("rels") {
			h.take(relation(r.at("relation")), mode)
		}
		if len(n.list("rels")) == 0 {
			h.take("every table, one after the other", mode)
		}
	case "ClusterStmt":
		h.take(relation(n.at("relation")), accessExclusive)
		if !n.has("relation") {
			h.take("every clustered table", accessExclusive)
		}
	case "ReindexStmt":
		reindexLocks(n, h)
	case "RefreshMatViewStmt":
		mode := accessExclusive
		if n.flag("concurrent") {
			mode = exclusive
		}
		h.take(relation(n.at("relation")), mode)
	case "ViewStmt":
		if n.flag("replace") {
			h.take(relation(n.at("view")), accessExclusive)
		}
		queryLocks(n, h)
	case "CopyStmt":
		mode := accessShare
		if n.flag("is_from") {
			mode = rowExclusive
		}
		h.take(relation(n.at("relation")), mode)
		queryLocks(n, h)
	case "InsertStmt", "UpdateStmt", "DeleteStmt", "MergeStmt", "SelectStmt", "CreateTableAsStmt", "DeclareCursorStmt", "ExplainStmt":
		queryLocks(n, h)
	}
}

// reindexLocks: the tables that an index or a schema belongs to are not in the
// statement, so the lock names them by that.
func reindexLocks(n node, h *held) {
	mode, object := share, relation(n.at("relation"))
	if n.on("params", "concurrently") {
		mode = shareUpdate
	}
	switch n.text("kind") {
	case "REINDEX_OBJECT_INDEX":
		h.take("the table of "+object, mode)
		if mode == share {
			h.take(object, accessExclusive)
		}
	case "REINDEX_OBJECT_TABLE":
		h.take(object, mode)
		if mode == share {
			h.take("the indexes of "+object, accessExclusive)
		}
	default:
		h.take("every table, one after the other", mode)
	}
}

// relations are the kinds of things that have locks of relations.
var relations = map[string]bool{
	"OBJECT_TABLE": true, "OBJECT_VIEW": true, "OBJECT_MATVIEW": true, "OBJECT_SEQUENCE": true, "OBJECT_FOREIGN_TABLE": true, "OBJECT_INDEX": true,
}

func dropLocks(n node, h *held) {
	kind := n.text("removeType")
	for _, object := range n.list("objects") {
		parts := names(object)
		switch {
		case kind == "OBJECT_INDEX" && n.flag("concurrent"):
			h.take(strings.Join(parts, "."), shareUpdate)
			h.take("the table of "+strings.Join(parts, "."), shareUpdate)
		case kind == "OBJECT_INDEX":
			h.take(strings.Join(parts, "."), accessExclusive)
			h.take("the table of "+strings.Join(parts, "."), accessExclusive)
		case relations[kind]:
			h.take(strings.Join(parts, "."), accessExclusive)
		case (kind == "OBJECT_TRIGGER" || kind == "OBJECT_RULE" || kind == "OBJECT_POLICY") && len(parts) > 1:
			h.take(strings.Join(parts[:len(parts)-1], "."), accessExclusive)
		}
	}
}

func commentLocks(n node, h *held) {
	parts := names(n.node("object"))
	switch kind := n.text("objtype"); {
	case relations[kind]:
		h.take(strings.Join(parts, "."), shareUpdate)
	case kind == "OBJECT_COLUMN" && len(parts) > 1:
		h.take(strings.Join(parts[:len(parts)-1], "."), shareUpdate)
	}
}

// queryLocks are those of the tables that a query reads and writes.
func queryLocks(n node, h *held) {
	root := map[string]any{n.kind: map[string]any(n.tree)}
	hidden := map[string]bool{} // names that are no tables: of a WITH, or an alias
	walk(root, func(n node) {
		switch n.kind {
		case "CommonTableExpr":
			hidden[n.text("ctename")] = true
		case "RangeVar":
			if alias := n.at("alias").text("aliasname"); alias != relation(n.tree) {
				hidden[alias] = true
			}
		}
	})
	read := func(r tree, mode string) {
		if name := relation(r); !hidden[name] || r.has("alias") {
			h.take(name, mode)
		}
	}
	walk(root, func(n node) {
		switch n.kind {
		case "InsertStmt", "UpdateStmt", "DeleteStmt", "MergeStmt":
			h.take(relation(n.at("relation")), rowExclusive)
		case "SelectStmt":
			for _, clause := range n.list("lockingClause") {
				walk(n.tree["fromClause"], func(from node) {
					if from.kind == "RangeVar" && meansRow(clause, from.tree) {
						read(from.tree, rowShare)
					}
				})
			}
		case "RangeVar":
			read(n.tree, accessShare)
		}
	})
}

// meansRow says whether FOR UPDATE or the like is about a table: all of them,
// or those that it names by their alias.
func meansRow(clause node, r tree) bool {
	of := clause.list("lockedRels")
	for _, one := range of {
		if one.text("relname") == r.text("relname") || one.text("relname") == r.at("alias").text("aliasname") {
			return true
		}
	}
	return len(of) == 0
}
