package script

import (
	"fmt"
	"strings"
)

// postgresAlone says whether PostgreSQL refuses a statement inside a
// transaction. A value added to a type is one of them on old servers, and on
// all of them it cannot be used before its transaction is over.
func postgresAlone(n node) bool {
	switch n.kind {
	case "IndexStmt", "DropStmt":
		return n.flag("concurrent")
	case "ReindexStmt":
		kind := n.text("kind")
		return n.on("params", "concurrently") || kind != "REINDEX_OBJECT_INDEX" && kind != "REINDEX_OBJECT_TABLE"
	case "VacuumStmt":
		return n.flag("is_vacuumcmd")
	case "ClusterStmt":
		return !n.has("relation")
	case "AlterEnumStmt":
		return n.text("oldVal") == ""
	case "AlterTableStmt":
		for _, cmd := range n.list("cmds") {
			if cmd.text("subtype") == "AT_DetachPartition" && cmd.node("def").flag("concurrent") {
				return true
			}
		}
		return false
	case "AlterDatabaseStmt":
		_, moves := n.option("options", "tablespace")
		return moves
	case "CreatedbStmt", "DropdbStmt", "CreateTableSpaceStmt", "DropTableSpaceStmt", "AlterSystemStmt", "CreateSubscriptionStmt", "DropSubscriptionStmt":
		return true
	case "AlterSubscriptionStmt":
		kind := n.text("kind")
		return strings.Contains(kind, "REFRESH") || strings.Contains(kind, "PUBLICATION")
	case "DiscardStmt":
		return n.text("target") == "DISCARD_ALL"
	}
	return false
}

// postgresProbe says how to find out whether a statement ran that cannot share
// a transaction with the history. Nil: nothing tells.
func postgresProbe(n node) *Probe {
	switch n.kind {
	case "IndexStmt":
		index, schema := n.text("idxname"), n.at("relation").text("schemaname")
		if index == "" {
			return nil
		}
		return &Probe{
			What: ProbeIndex, Schema: schema, Name: index, Table: n.at("relation").text("relname"),
			Drop: "DROP INDEX CONCURRENTLY IF EXISTS " + identifier(schema, index),
		}
	case "DropStmt":
		objects := n.list("objects")
		if len(objects) != 1 {
			return nil
		}
		schema, index := qualified(names(objects[0]))
		return &Probe{What: ProbeIndex, Schema: schema, Name: index, Gone: true}
	case "AlterEnumStmt":
		schema, name := qualified(names(node{"List", tree{"items": n.tree["typeName"]}}))
		return &Probe{What: ProbeTypeValue, Schema: schema, Name: name, Value: n.text("newVal")}
	case "CreatedbStmt":
		return &Probe{What: ProbeDatabase, Name: n.text("dbname")}
	case "DropdbStmt":
		return &Probe{What: ProbeDatabase, Name: n.text("dbname"), Gone: true}
	case "CreateTableSpaceStmt":
		return &Probe{What: ProbeTablespace, Name: n.text("tablespacename")}
	case "DropTableSpaceStmt":
		return &Probe{What: ProbeTablespace, Name: n.text("tablespacename"), Gone: true}
	case "CreateSubscriptionStmt":
		return &Probe{What: ProbeSubscription, Name: n.text("subname")}
	case "DropSubscriptionStmt":
		return &Probe{What: ProbeSubscription, Name: n.text("subname"), Gone: true}
	case "AlterTableStmt":
		for _, cmd := range n.list("cmds") {
			if cmd.text("subtype") == "AT_DetachPartition" {
				part := cmd.node("def").at("name")
				return &Probe{What: ProbePartition, Schema: part.text("schemaname"), Name: part.text("relname"), Table: relation(n.at("relation")), Gone: true}
			}
		}
	case "ReindexStmt", "VacuumStmt", "ClusterStmt", "AlterSystemStmt", "AlterDatabaseStmt", "AlterSubscriptionStmt", "DiscardStmt":
		return &Probe{What: ProbeRepeat}
	}
	return nil
}

// identifier writes a name so that any server reads it as it is.
func identifier(schema, name string) string {
	text := `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
	if schema == "" {
		return text
	}
	return fmt.Sprintf(`"%s".%s`, strings.ReplaceAll(schema, `"`, `""`), text)
}
