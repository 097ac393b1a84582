package script

// nouns are the things that MySQL makes and drops with a statement of their own.
var nouns = map[string]string{
	"TABLE": ProbeTable, "VIEW": ProbeView, "PROCEDURE": ProbeRoutine, "FUNCTION": ProbeRoutine, "TRIGGER": ProbeTrigger, "EVENT": ProbeEvent,
	"DATABASE": ProbeDatabase, "SCHEMA": ProbeDatabase, "USER": ProbeUser, "ROLE": ProbeUser,
}

// mysqlProbe says how to find out whether a statement ran that MySQL commits by
// itself. Each is applied as a whole or not at all, so one trace of it is
// enough. Nil: nothing tells.
func mysqlProbe(p []piece, tag string) *Probe {
	switch tag {
	case "ALTER TABLE":
		return alterProbe(p)
	case "CREATE INDEX", "DROP INDEX":
		at := after(p, 0, "INDEX")
		index, end := readObject(p, at)
		table, _ := readObject(p, after(p, end, "ON"))
		return &Probe{What: ProbeIndex, Schema: table.schema, Name: index.name, Table: table.name, Gone: tag == "DROP INDEX"}
	case "RENAME TABLE":
		table, _ := readObject(p, after(p, 0, "TO"))
		return &Probe{What: ProbeTable, Schema: table.schema, Name: table.name}
	case "ANALYZE", "OPTIMIZE", "REPAIR", "CHECK", "FLUSH", "GRANT", "UNLOCK", "LOCK TABLE", "CACHE", "SET", "ALTER VIEW", "ALTER DATABASE", "ALTER SCHEMA":
		return &Probe{What: ProbeRepeat}
	}
	if len(p) < 3 || !p[0].is("CREATE", "DROP") {
		return nil
	}
	if conditional(p) {
		return &Probe{What: ProbeRepeat}
	}
	for i, one := range p {
		if what := nouns[one.text]; what != "" && one.kind == word {
			thing, _ := readObject(p, i+1)
			return &Probe{What: what, Schema: thing.schema, Name: thing.name, Gone: p[0].is("DROP")}
		}
	}
	return nil
}

// alterProbe looks for the first part of an ALTER TABLE that leaves a trace. If
// none does, all of them only state how the table shall be.
func alterProbe(p []piece) *Probe {
	table, parts := actions(p)
	again := len(parts) > 0
	for _, part := range parts {
		probe := partProbe(part)
		if probe == nil {
			again = false
			continue
		}
		if probe.What == ProbeRepeat {
			continue
		}
		if probe.What == ProbeTable {
			return probe
		}
		probe.Schema, probe.Table = table.schema, table.name
		return probe
	}
	if again {
		return &Probe{What: ProbeRepeat}
	}
	return nil
}

// partProbe is the trace that one part of an ALTER TABLE leaves.
func partProbe(p []piece) *Probe {
	if len(p) == 0 {
		return nil
	}
	at := func(i int) string {
		o, _ := readObject(p, behindIf(p, i))
		return o.name
	}
	switch p[0].text {
	case "ADD":
		return addProbe(p, at)
	case "DROP":
		switch {
		case starts(p, "DROP", "PRIMARY"):
			return &Probe{What: ProbeIndex, Name: "PRIMARY", Gone: true}
		case starts(p, "DROP", "INDEX"), starts(p, "DROP", "KEY"):
			return &Probe{What: ProbeIndex, Name: at(2), Gone: true}
		case starts(p, "DROP", "FOREIGN", "KEY"):
			return &Probe{What: ProbeConstraint, Name: at(3), Gone: true}
		case starts(p, "DROP", "CONSTRAINT"), starts(p, "DROP", "CHECK"):
			return &Probe{What: ProbeConstraint, Name: at(2), Gone: true}
		case starts(p, "DROP", "PARTITION"):
			return nil
		case starts(p, "DROP", "COLUMN"):
			return &Probe{What: ProbeColumn, Name: at(2), Gone: true}
		}
		return &Probe{What: ProbeColumn, Name: at(1), Gone: true}
	case "CHANGE":
		i := 1
		if starts(p, "CHANGE", "COLUMN") {
			i = 2
		}
		from, end := readObject(p, behindIf(p, i))
		to, _ := readObject(p, end)
		if from.name == to.name {
			return &Probe{What: ProbeRepeat}
		}
		return &Probe{What: ProbeColumn, Name: to.name}
	case "RENAME":
		return renameProbe(p)
	case "EXCHANGE", "REORGANIZE", "COALESCE", "DISCARD", "IMPORT":
		return nil
	}
	return &Probe{What: ProbeRepeat}
}

func addProbe(p []piece, at func(int) string) *Probe {
	if len(p) > 1 && p[1].is("UNIQUE", "FULLTEXT", "SPATIAL", "INDEX", "KEY") {
		i := 2
		if i < len(p) && p[i].is("INDEX", "KEY") {
			i++
		}
		if behindIf(p, i) >= len(p) || p[behindIf(p, i)].is("(", "USING") {
			return nil
		}
		return &Probe{What: ProbeIndex, Name: at(i)}
	}
	switch {
	case starts(p, "ADD", "PRIMARY"):
		return &Probe{What: ProbeIndex, Name: "PRIMARY"}
	case starts(p, "ADD", "CONSTRAINT"):
		if has(p, "PRIMARY", "KEY") {
			return &Probe{What: ProbeIndex, Name: "PRIMARY"}
		}
		if len(p) > 2 && p[2].is("FOREIGN", "UNIQUE", "CHECK") {
			return nil
		}
		return &Probe{What: ProbeConstraint, Name: at(2)}
	case starts(p, "ADD", "FOREIGN"), starts(p, "ADD", "CHECK"), starts(p, "ADD", "PARTITION"), starts(p, "ADD", "PERIOD"), starts(p, "ADD", "SYSTEM"):
		return nil
	}
	i := 1
	if starts(p, "ADD", "COLUMN") {
		i = 2
	}
	if i = behindIf(p, i); i < len(p) && p[i].is("(") {
		i++
	}
	return &Probe{What: ProbeColumn, Name: at(i)}
}

func renameProbe(p []piece) *Probe {
	to, _ := readObject(p, after(p, 0, "TO", "AS"))
	switch {
	case starts(p, "RENAME", "COLUMN"):
		return &Probe{What: ProbeColumn, Name: to.name}
	case starts(p, "RENAME", "INDEX"), starts(p, "RENAME", "KEY"):
		return &Probe{What: ProbeIndex, Name: to.name}
	case !has(p, "TO") && !has(p, "AS"):
		to, _ = readObject(p, 1)
	}
	return &Probe{What: ProbeTable, Schema: to.schema, Name: to.name}
}
