package script

import (
	"fmt"
	"slices"
	"strings"
)

// alter warns about one part of an ALTER TABLE.
func (l *linter) alter(table string, cmd, def node) {
	column := cmd.text("name")
	switch cmd.text("subtype") {
	case "AT_AddColumn":
		l.addColumn(table, def)
	case "AT_AddConstraint":
		l.addConstraint(table, def)
	case "AT_AlterColumnType":
		l.retype(table, column, def)
	case "AT_SetNotNull":
		l.warn("not_null", table, fmt.Sprintf("SET NOT NULL on %s.%s reads all rows", table, column),
			fmt.Sprintf("first ADD CONSTRAINT … CHECK (%s IS NOT NULL) NOT VALID, then VALIDATE CONSTRAINT in another file: SET NOT NULL then reads nothing (since version 12)", column))
	case "AT_DropColumn":
		l.warn("drop", table, fmt.Sprintf("drops the column %s of %s", column, table), "first let no program read or write it, and drop it in a later rollout")
	case "AT_DropConstraint":
		return
	case "AT_SetLogged", "AT_SetUnLogged":
		l.warn("table_rewrite", table, fmt.Sprintf("makes %s logged or unlogged", table), "make a new table, copy the rows, and swap the names")
	case "AT_SetAccessMethod", "AT_SetTableSpace":
		l.warn("table_rewrite", table, fmt.Sprintf("moves %s to another place on the disk", table), "make a new table, copy the rows, and swap the names")
	case "AT_SetExpression":
		l.warn("table_rewrite", table, fmt.Sprintf("computes %s.%s anew for every row", table, column), "add a new column, fill it in parts, and swap the names")
	case "AT_AttachPartition":
		l.warn("check", relation(def.at("name")), fmt.Sprintf("all rows of %s are read to see that they belong there", relation(def.at("name"))),
			"first add a CHECK constraint that says the same as the bounds, NOT VALID, and VALIDATE it: then nothing is read")
	case "AT_DetachPartition":
		if !def.flag("concurrent") {
			l.warn("full_lock", table, fmt.Sprintf("detaches a partition of %s without CONCURRENTLY", table), "say DETACH PARTITION … CONCURRENTLY (since version 14)")
		}
	}
}

// addColumn: a column costs nothing if its value is the same for all rows.
func (l *linter) addColumn(table string, def node) {
	column := table + "." + def.text("colname")
	notNull, valued := false, false
	for _, c := range def.list("constraints") {
		switch c.text("contype") {
		case "CONSTR_NOTNULL", "CONSTR_PRIMARY":
			notNull = true
		case "CONSTR_DEFAULT":
			valued = true
			if f := volatile(c.node("raw_expr")); f != "" {
				l.warn("table_rewrite", table, fmt.Sprintf("the default of %s calls %s for every row", column, f), "add the column without a default, SET DEFAULT for new rows, and fill the old ones in parts")
			}
		case "CONSTR_IDENTITY":
			valued = true
			l.warn("table_rewrite", table, fmt.Sprintf("numbers every row in %s", column), "add a plain column, fill it in parts, and make it an identity then")
		case "CONSTR_GENERATED":
			valued = true
			l.warn("table_rewrite", table, fmt.Sprintf("computes %s for every row", column), "add a plain column with a trigger, and fill the old rows in parts")
		case "CONSTR_FOREIGN":
			l.warn("foreign_key", table, fmt.Sprintf("lets %s refer to %s", column, relation(c.at("pktable"))), "add the column first, then ADD FOREIGN KEY … NOT VALID, then VALIDATE CONSTRAINT in another file")
		case "CONSTR_CHECK":
			l.warn("check", table, fmt.Sprintf("the CHECK on %s reads all rows", column), "add the column first, then ADD CONSTRAINT … CHECK … NOT VALID, then VALIDATE CONSTRAINT in another file")
		}
		if t := c.text("contype"); t == "CONSTR_UNIQUE" || t == "CONSTR_PRIMARY" {
			l.warn("index_not_concurrent", table, fmt.Sprintf("builds a unique index for %s", column), uniqueInstead)
		}
	}
	if _, kind := qualified(names(node{"TypeName", def.at("typeName")})); strings.Contains(kind, "serial") {
		valued = true
		l.warn("table_rewrite", table, fmt.Sprintf("numbers every row in %s, which is %s", column, kind), "add a plain column, fill it in parts, and give it a sequence then")
	}
	if notNull && !valued {
		l.warn("not_null_no_default", table, fmt.Sprintf("adds %s, NOT NULL without a default", column), "give it a default, or add it without NOT NULL and fill it in parts")
	}
}

const uniqueInstead = "first CREATE UNIQUE INDEX CONCURRENTLY, then ADD CONSTRAINT … USING INDEX"

// addConstraint: a constraint that is not valid yet costs nothing.
func (l *linter) addConstraint(table string, def node) {
	later := "say NOT VALID, then VALIDATE CONSTRAINT in another file: it lets writes go on"
	switch def.text("contype") {
	case "CONSTR_FOREIGN":
		if !def.flag("skip_validation") {
			l.warn("foreign_key", table, fmt.Sprintf("lets %s refer to %s, without NOT VALID", table, relation(def.at("pktable"))), later)
		}
	case "CONSTR_CHECK":
		if !def.flag("skip_validation") {
			l.warn("check", table, fmt.Sprintf("adds a CHECK on %s without NOT VALID", table), later)
		}
	case "CONSTR_UNIQUE", "CONSTR_PRIMARY":
		if def.text("indexname") == "" {
			l.warn("index_not_concurrent", table, fmt.Sprintf("the constraint builds a unique index on %s", table), uniqueInstead)
		}
	case "CONSTR_EXCLUSION":
		l.warn("full_lock", table, fmt.Sprintf("EXCLUDE builds an index on %s", table), "make a new table with it, copy the rows, and swap the names")
	}
}

// retype: some types become others without a look at the rows, but the old type
// is not in the script.
func (l *linter) retype(table, column string, def node) {
	_, kind := qualified(names(node{"TypeName", def.at("typeName")}))
	free := slices.Contains([]string{"text", "varchar"}, kind) && !def.has("raw_default")
	what := fmt.Sprintf("changes the type of %s.%s to %s", table, column, kind)
	if free {
		what += ", which is free only from a shorter text"
	}
	l.warn("table_rewrite", table, what, "add a new column, write both, fill it in parts, and swap the names")
	if free {
		l.out[len(l.out)-1].Severity = Caution
	}
}

// stable are functions whose value is the same for all rows of a statement, so
// that a default that calls them is stored once.
var stable = strings.Fields(`now statement_timestamp transaction_timestamp current_setting current_schema current_database
	lower upper btrim concat md5 sha256 to_char to_date to_timestamp to_json to_jsonb date_trunc date_part make_date make_time make_timestamp make_timestamptz make_interval
	json_build_object jsonb_build_object json_build_array jsonb_build_array array_fill int4range int8range numrange daterange tsrange tstzrange timezone
	abs round floor ceil trunc power mod length encode decode string_to_array regexp_replace replace repeat left right date timestamptz`)

// volatile is the first function of an expression that may give another value
// for each row.
func volatile(expression node) string {
	found := ""
	walk(map[string]any{expression.kind: map[string]any(expression.tree)}, func(n node) {
		if n.kind != "FuncCall" || found != "" {
			return
		}
		_, name := qualified(names(node{"List", tree{"items": n.tree["funcname"]}}))
		if !slices.Contains(stable, name) {
			found = name + "()"
		}
	})
	return found
}
