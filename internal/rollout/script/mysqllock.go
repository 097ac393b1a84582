package script

// The modes of metadata locks, as performance_schema.metadata_locks names them.
const (
	metaExclusive = "EXCLUSIVE"
	metaNoWrite   = "SHARED_NO_WRITE"
	metaWrite     = "SHARED_WRITE"
	metaRead      = "SHARED_READ"
)

// What waits for them.
const (
	blocksShortly = "reads and writes, at its beginning and end"
	blocksAll     = "reads and writes"
	blocksWrites  = "writes while the table is copied"
	blocksSchema  = "changes of the schema"
)

// mysqlLocks are the metadata locks on the tables that a statement names first.
func mysqlLocks(p []piece, tag string) []Lock {
	one := func(i int, mode, blocks string) []Lock {
		o, _ := readObject(p, i)
		if o.name == "" {
			return nil
		}
		return []Lock{{Object: o.String(), Mode: mode, Blocks: blocks}}
	}
	switch tag {
	case "ALTER TABLE":
		at := after(p, 0, "TABLE")
		switch {
		case hint(p, "LOCK") == "EXCLUSIVE":
			return one(at, metaExclusive, blocksAll)
		case hint(p, "ALGORITHM") == "COPY", hint(p, "ALGORITHM") == "" && hint(p, "LOCK") != "NONE" && copies(p) != "":
			return one(at, metaNoWrite, blocksWrites)
		}
		return one(at, metaExclusive, blocksShortly)
	case "CREATE INDEX", "DROP INDEX":
		return one(after(p, after(p, 0, "INDEX"), "ON"), metaExclusive, blocksShortly)
	case "CREATE TRIGGER":
		return one(after(p, after(p, 0, "TRIGGER"), "ON"), metaExclusive, blocksShortly)
	case "DROP TABLE":
		var all []Lock
		for at := after(p, 0, "TABLE", "TABLES"); at > 0 && at < len(p); {
			all = append(all, one(at, metaExclusive, blocksAll)...)
			_, end := readObject(p, at)
			if end >= len(p) || !p[end].is(",") {
				break
			}
			at = end + 1
		}
		return all
	case "TRUNCATE TABLE", "RENAME TABLE":
		at := after(p, 0, "TABLE")
		if at == 0 {
			at = 1
		}
		return one(at, metaExclusive, blocksAll)
	case "OPTIMIZE", "REPAIR":
		return one(after(p, 0, "TABLE", "TABLES"), metaNoWrite, blocksWrites)
	case "LOCK TABLE":
		return one(2, metaExclusive, blocksAll)
	case "INSERT", "REPLACE":
		if at := after(p, 0, "INTO"); at > 0 {
			return one(at, metaWrite, blocksSchema)
		}
	case "UPDATE":
		at := 1
		for at < len(p) && p[at].is("LOW_PRIORITY", "IGNORE") {
			at++
		}
		return one(at, metaWrite, blocksSchema)
	case "DELETE":
		return one(after(p, 0, "FROM"), metaWrite, blocksSchema)
	case "SELECT":
		if at := after(p, 0, "FROM"); p[0].is("SELECT") && at > 0 && at < len(p) && !p[at].is("(") {
			return one(at, metaRead, blocksSchema)
		}
	}
	return nil
}

// copies says why an ALTER TABLE makes a copy of its table, or nothing.
func copies(p []piece) string {
	_, parts := actions(p)
	drops, adds := false, false
	for _, part := range parts {
		switch {
		case starts(part, "MODIFY"), starts(part, "CHANGE"):
			return "a changed column type makes MySQL copy the table"
		case starts(part, "CONVERT"):
			return "another character set makes MySQL copy the table"
		case starts(part, "ORDER"):
			return "ORDER BY makes MySQL copy the table"
		case starts(part, "ENGINE"), starts(part, "FORCE"), starts(part, "ROW_FORMAT"):
			return "MySQL builds the table again"
		case starts(part, "PARTITION"), starts(part, "REMOVE", "PARTITIONING"):
			return "another partitioning makes MySQL copy the table"
		case starts(part, "DROP", "PRIMARY"):
			drops = true
		case starts(part, "ADD", "PRIMARY"):
			adds = true
		case starts(part, "ADD") && has(part, "AUTO_INCREMENT"):
			return "a column that numbers its rows makes MySQL build the table again, without writes"
		case starts(part, "ADD") && has(part, "STORED"):
			return "a stored column makes MySQL copy the table"
		}
	}
	switch {
	case drops && !adds:
		return "to drop the primary key makes MySQL copy the table"
	case drops || adds:
		return "another primary key makes MySQL build the table again"
	}
	return ""
}
