package script

import "strings"

// dataWords begin statements that change rows only. They take no lock that
// another change of data would wait for as a whole.
var dataWords = map[string]bool{"INSERT": true, "UPDATE": true, "DELETE": true, "MERGE": true, "REPLACE": true, "COPY": true, "LOAD": true}

// neutralWords begin statements that make a script neither data nor DDL.
var neutralWords = map[string]bool{
	"SET": true, "RESET": true, "USE": true, "SHOW": true, "BEGIN": true, "START": true, "COMMIT": true, "END": true, "ROLLBACK": true, "SAVEPOINT": true, "RELEASE": true, "DELIMITER": true,
}

// kindOf is the kind of a statement by its tag. A SELECT, CALL or DO may call
// what does anything, so it counts as DDL: the cost is that it runs by itself.
func kindOf(tag string) Kind {
	first, _, _ := strings.Cut(tag, " ")
	if dataWords[first] || neutralWords[first] {
		return Data
	}
	return DDL
}

// guess is the kind of a script for an engine that is not known yet: data if it
// is nothing else however it is read. A wrong guess can only be DDL.
func guess(sql string) Kind {
	if postgres.kind(sql) == Data && mysql.kind(sql) == Data {
		return Data
	}
	return DDL
}

// kind reads the first word of each statement. A script without any is DDL.
func (d dialect) kind(sql string) Kind {
	found := Kind("")
	start := 0
	for i := 0; i <= len(sql); {
		var t token
		if i < len(sql) {
			t = d.next(sql, i)
			if t.open {
				return DDL
			}
		}
		if i == len(sql) || t.kind == mark && sql[i] == ';' {
			switch tag := tagOf(d.pieces(sql[start:i], tagPieces)); {
			case tag == "":
			case kindOf(tag) == DDL:
				return DDL
			case dataWords[tag]:
				found = Data
			}
			start = i + 1
		}
		i = max(t.end, i+1)
	}
	if found == "" {
		return DDL
	}
	return found
}
