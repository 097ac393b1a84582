package script

// committing begin statements that MySQL commits by itself, before and after.
var committing = map[string]bool{
	"CREATE": true, "ALTER": true, "DROP": true, "RENAME": true, "TRUNCATE": true, "GRANT": true, "REVOKE": true, "LOCK": true, "UNLOCK": true, "ANALYZE": true,
	"OPTIMIZE": true, "REPAIR": true, "CHECK": true, "CACHE": true, "FLUSH": true, "RESET": true, "INSTALL": true, "UNINSTALL": true, "CALL": true,
}

// mysqlAlone says whether a statement cannot share a transaction. A procedure
// may commit, so it cannot either; a temporary table can.
func mysqlAlone(p []piece, tag string) bool {
	if len(p) == 0 {
		return false
	}
	if tag == "CREATE TABLE" || tag == "DROP TABLE" {
		for _, one := range p[:min(4, len(p))] {
			if one.is("TEMPORARY") {
				return false
			}
		}
	}
	return committing[p[0].text] && p[0].kind == word || compound(p) || p[0].is("SET") && len(p) > 1 && p[1].is("PASSWORD")
}

// object is a name with its schema.
type object struct{ schema, name string }

func (o object) String() string { return dotted(o.schema, o.name) }

// readObject reads a name at i and says where it ends.
func readObject(p []piece, i int) (object, int) {
	read := func(i int) string {
		if i < len(p) && (p[i].kind == name || p[i].kind == word) {
			if p[i].kind == word {
				return p[i].raw
			}
			return p[i].text
		}
		return ""
	}
	first := read(i)
	if i+2 < len(p) && p[i+1].is(".") {
		return object{first, read(i + 2)}, i + 3
	}
	return object{"", first}, i + 1
}

// after is the place behind the first of words at or after i, and behind IF
// [NOT] EXISTS if that follows. Zero: there is none.
func after(p []piece, i int, words ...string) int {
	for ; i < len(p); i++ {
		if p[i].is(words...) {
			return behindIf(p, i+1)
		}
	}
	return 0
}

func behindIf(p []piece, i int) int {
	if i < len(p) && p[i].is("IF") {
		for i < len(p) && !p[i].is("EXISTS") {
			i++
		}
		return i + 1
	}
	return i
}

// conditional says whether a statement has IF EXISTS or IF NOT EXISTS, or
// replaces what is there: it can run twice.
func conditional(p []piece) bool {
	for i := range min(len(p), 16) {
		if p[i].is("IF") && i+1 < len(p) && p[i+1].is("EXISTS", "NOT") || p[i].is("OR") && i+1 < len(p) && p[i+1].is("REPLACE") {
			return true
		}
		if p[i].is("(") {
			break
		}
	}
	return false
}

// actions are the parts of an ALTER TABLE, and its table.
func actions(p []piece) (table object, parts [][]piece) {
	at := after(p, 0, "TABLE")
	if at == 0 || at >= len(p) {
		return object{}, nil
	}
	table, i := readObject(p, at)
	depth, start := 0, i
	for ; i < len(p); i++ {
		switch {
		case p[i].is("("):
			depth++
		case p[i].is(")"):
			depth--
		case p[i].is(",") && depth == 0:
			parts = append(parts, p[start:i])
			start = i + 1
		}
	}
	if start < len(p) {
		parts = append(parts, p[start:])
	}
	return table, parts
}

// has says whether words follow one another somewhere in p.
func has(p []piece, words ...string) bool {
	for i := 0; i+len(words) <= len(p); i++ {
		same := true
		for j, w := range words {
			same = same && p[i+j].is(w)
		}
		if same {
			return true
		}
	}
	return false
}

// starts says whether p begins with words.
func starts(p []piece, words ...string) bool {
	return len(p) >= len(words) && has(p[:len(words)], words...)
}

// hint is the value of ALGORITHM or LOCK, or nothing.
func hint(p []piece, key string) string {
	for i := range p {
		if p[i].is(key) && i+1 < len(p) {
			if p[i+1].is("=") && i+2 < len(p) {
				return p[i+2].text
			}
			if p[i+1].is("COPY", "INPLACE", "INSTANT", "NOCOPY", "DEFAULT", "NONE", "SHARED", "EXCLUSIVE") {
				return p[i+1].text
			}
		}
	}
	return ""
}
