package script

// alterModes are the forms of ALTER TABLE that take less than everything.
var alterModes = map[string]string{
	"AT_SetStatistics": shareUpdate, "AT_SetOptions": shareUpdate, "AT_ResetOptions": shareUpdate, "AT_SetRelOptions": shareUpdate, "AT_ResetRelOptions": shareUpdate,
	"AT_ReplaceRelOptions": shareUpdate, "AT_ClusterOn": shareUpdate, "AT_DropCluster": shareUpdate, "AT_ValidateConstraint": shareUpdate, "AT_AttachPartition": shareUpdate,
	"AT_DetachPartitionFinalize": shareUpdate,
	"AT_EnableTrig":              shareRow, "AT_EnableAlwaysTrig": shareRow, "AT_EnableReplicaTrig": shareRow, "AT_EnableTrigAll": shareRow, "AT_EnableTrigUser": shareRow,
	"AT_DisableTrig": shareRow, "AT_DisableTrigAll": shareRow, "AT_DisableTrigUser": shareRow,
}

// alterLocks: the strongest of its parts is taken for all of them, at once.
func alterLocks(n node, h *held) {
	table := relation(n.at("relation"))
	for _, cmd := range n.list("cmds") {
		def := cmd.node("def")
		mode := accessExclusive
		if weaker, ok := alterModes[cmd.text("subtype")]; ok {
			mode = weaker
		}
		switch cmd.text("subtype") {
		case "AT_AddConstraint":
			if def.text("contype") == "CONSTR_FOREIGN" {
				mode = shareRow
			}
		case "AT_DetachPartition":
			if def.flag("concurrent") {
				mode = shareUpdate
			}
		}
		h.take(table, mode)
		alterOthers(cmd, def, h)
	}
}

// alterOthers are the locks on tables that a part of ALTER TABLE names.
func alterOthers(cmd, def node, h *held) {
	switch cmd.text("subtype") {
	case "AT_AddConstraint":
		h.take(relation(def.at("pktable")), shareRow)
	case "AT_AddColumn":
		for _, c := range def.list("constraints") {
			h.take(relation(c.at("pktable")), shareRow)
		}
	case "AT_AttachPartition", "AT_DetachPartition":
		h.take(relation(def.at("name")), accessExclusive)
	case "AT_AddInherit":
		h.take(relation(def.tree), shareUpdate)
	}
}

// createLocks are those on the tables that a new one refers to.
func createLocks(n node, h *held) {
	parent := accessExclusive
	if !n.has("partbound") {
		parent = shareUpdate
	}
	for _, r := range n.list("inhRelations") {
		h.take(relation(r.tree), parent)
	}
	for _, elt := range n.list("tableElts") {
		h.take(relation(elt.at("pktable")), shareRow)
		for _, c := range elt.list("constraints") {
			h.take(relation(c.at("pktable")), shareRow)
		}
		if elt.kind == "TableLikeClause" {
			h.take(relation(elt.at("relation")), accessShare)
		}
	}
}
