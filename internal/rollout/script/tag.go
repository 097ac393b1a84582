package script

import "strings"

// tagPieces is how far into a statement its tag is looked for. A WITH may be
// long before its verb comes.
const tagPieces = 4096

// fillers stand between CREATE, ALTER or DROP and what they are about.
var fillers = map[string]bool{
	"OR": true, "REPLACE": true, "TEMP": true, "TEMPORARY": true, "GLOBAL": true, "LOCAL": true, "UNLOGGED": true, "UNIQUE": true, "FULLTEXT": true,
	"SPATIAL": true, "RECURSIVE": true, "CONSTRAINT": true, "TRUSTED": true, "PROCEDURAL": true, "ONLINE": true, "OFFLINE": true, "IGNORE": true, "AGGREGATE": true,
}

// longer are the nouns of two and three words.
var longer = map[string][]string{
	"MATERIALIZED": {"VIEW"}, "FOREIGN": {"TABLE", "DATA"}, "DATA": {"WRAPPER"}, "EVENT": {"TRIGGER"}, "USER": {"MAPPING"}, "ACCESS": {"METHOD"}, "DEFAULT": {"PRIVILEGES"},
	"TEXT": {"SEARCH"}, "SEARCH": {"CONFIGURATION", "DICTIONARY", "PARSER", "TEMPLATE"}, "OPERATOR": {"CLASS", "FAMILY"}, "LARGE": {"OBJECT"},
}

// tagOf names a statement as the server's command tag does: CREATE INDEX.
func tagOf(p []piece) string {
	for len(p) > 0 && p[0].is("(") {
		p = p[1:]
	}
	if len(p) == 0 {
		return ""
	}
	first := p[0].text
	switch first {
	case "CREATE", "ALTER", "DROP":
		return first + noun(p[1:])
	case "WITH":
		return verb(p[1:])
	case "TRUNCATE":
		return "TRUNCATE TABLE"
	case "START":
		return "START TRANSACTION"
	case "LOCK":
		return "LOCK TABLE"
	case "REFRESH":
		return "REFRESH MATERIALIZED VIEW"
	case "COMMENT":
		return "COMMENT"
	case "RENAME":
		return "RENAME TABLE"
	case "IMPORT":
		return "IMPORT FOREIGN SCHEMA"
	case "VALUES", "TABLE":
		return "SELECT"
	}
	if p[0].kind != word {
		return ""
	}
	return first
}

// noun is what CREATE, ALTER or DROP is about, with a space before it.
func noun(p []piece) string {
	for i := 0; i < len(p); i++ {
		switch {
		case p[i].is("DEFINER", "ALGORITHM", "SQL"):
			// MySQL: CREATE DEFINER = `root`@`%` SQL SECURITY INVOKER VIEW
			for i+1 < len(p) && !p[i+1].is("VIEW", "PROCEDURE", "FUNCTION", "TRIGGER", "EVENT", "AGGREGATE") {
				i++
			}
		case p[i].kind != word:
			return ""
		case fillers[p[i].text]:
		default:
			text := " " + p[i].text
			for i+1 < len(p) && p[i+1].is(longer[p[i].text]...) {
				i++
				text += " " + p[i].text
			}
			return text
		}
	}
	return ""
}

// verb is what comes after the common table expressions of a WITH.
func verb(p []piece) string {
	depth := 0
	for _, one := range p {
		switch {
		case one.is("("):
			depth++
		case one.is(")"):
			depth--
		case depth == 0 && one.is("SELECT", "INSERT", "UPDATE", "DELETE", "MERGE", "REPLACE"):
			return one.text
		}
	}
	return "SELECT"
}

// article makes a tag a part of a sentence: a CREATE INDEX, an UPDATE.
func article(tag string) string {
	if strings.ContainsAny(tag[:min(1, len(tag))], "AEIOU") {
		return "an " + tag
	}
	return "a " + tag
}
