package view

import "strings"

// begins is the condition that a column begins with a text, for an index in the
// order of bytes; its arguments are those of [beginning]. LIKE would not find the
// index when the text is a parameter.
func begins(column string) string {
	return column + ` collate "C" >= $1 and ` + column + ` collate "C" < $2`
}

// beginning is the range of texts that begin with prefix, in the order of bytes:
// up to the prefix and the highest character there is.
func beginning(prefix string) []any {
	prefix = strings.ToValidUTF8(prefix, "")
	return []any{prefix, prefix + "\U0010FFFF"}
}
