package script

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/weirhq/weir/internal/rollout/script/pgparse"
)

// parsed is the outermost layer of a parse tree.
type parsed struct {
	Stmts []struct {
		Stmt     json.RawMessage `json:"stmt"`
		Location int             `json:"stmt_location"`
		Length   int             `json:"stmt_len"`
	} `json:"stmts"`
}

// parse asks PostgreSQL's parser.
func parse(sql string) (out parsed, fault *Fault) {
	if at := tooDeep(sql); at >= 0 {
		return out, faultAt(sql, at, "the statement nests too deep for the parser", lessDeep)
	}
	text, err := pgparse.JSON(sql)
	var refused *pgparse.Refusal
	switch {
	case errors.Is(err, pgparse.ErrTooDeep):
		return out, &Fault{What: "a statement nests too deep for the parser", Next: lessDeep}
	case errors.As(err, &refused):
		return out, syntaxFault(sql, refused)
	case err != nil:
		return out, &Fault{What: "PostgreSQL's parser gave up: " + err.Error(), Next: "cut the script into smaller changes"}
	}
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		return out, &Fault{What: "the parse tree cannot be read: " + err.Error(), Next: "write the statements with less nesting"}
	}
	return out, nil
}

// splitPostgres reads a script with the server's own grammar.
func splitPostgres(sql string) ([]statement, *Fault) {
	out, fault := parse(sql)
	if fault != nil {
		return nil, fault
	}
	found := make([]statement, 0, len(out.Stmts))
	for _, raw := range out.Stmts {
		start, end := raw.Location, raw.Location+raw.Length
		if raw.Length == 0 {
			end = len(sql)
		}
		start = postgres.skip(sql, start)
		if start > end || end > len(sql) {
			return nil, &Fault{What: "PostgreSQL's parser gave a place outside the text", Next: "cut the script into smaller changes"}
		}
		var tree any
		if err := json.Unmarshal(raw.Stmt, &tree); err != nil {
			return nil, faultAt(sql, start, "the statement nests too deep: "+err.Error(), "write it with less nesting")
		}
		text := strings.TrimRight(sql[start:end], " \t\r\n\f\v")
		s := statement{Statement: Statement{Text: text, Offset: start}, node: nodeOf(tree)}
		s.Tag = tagOf(postgres.pieces(text, tagPieces))
		if fault := s.fillPostgres(); fault != nil {
			fault.Line, fault.Column = place(sql, start)
			return nil, fault
		}
		found = append(found, s)
	}
	return found, nil
}

// fillPostgres reads what a statement does from its tree.
func (s *statement) fillPostgres() *Fault {
	n := s.node
	switch n.kind {
	case "CopyStmt":
		if n.text("filename") == "" && !n.flag("is_program") {
			return copyFault(s.Text)
		}
	case "TransactionStmt":
		s.control = controls[n.text("kind")]
	case "VariableSetStmt":
		s.session = !n.flag("is_local")
	case "LoadStmt", "PrepareStmt":
		s.session = true
	}
	s.Kind = kindOf(s.Tag)
	s.Alone = postgresAlone(n)
	s.Locks = postgresLocks(n)
	if s.Alone {
		s.Probe = postgresProbe(n)
	}
	return nil
}

// controls are the statements that begin and end transactions. Savepoints are
// inside of one, so they stay.
var controls = map[string]string{
	"TRANS_STMT_BEGIN": "BEGIN", "TRANS_STMT_START": "BEGIN", "TRANS_STMT_COMMIT": "COMMIT", "TRANS_STMT_ROLLBACK": "ROLLBACK",
	"TRANS_STMT_PREPARE": "PREPARE TRANSACTION", "TRANS_STMT_COMMIT_PREPARED": "COMMIT PREPARED", "TRANS_STMT_ROLLBACK_PREPARED": "ROLLBACK PREPARED",
}

var copyStdin = regexp.MustCompile(`(?is)\bcopy\b[^;]*\bfrom\s+stdin\b[^;]*;`)

func copyFault(text string) *Fault {
	return &Fault{
		What: fmt.Sprintf("%s takes its rows from the program that sends it", excerpt(text)),
		Next: "write the rows as INSERT … VALUES (pg_dump --inserts does), or load them by other means",
	}
}

// syntaxFault turns an error of the parser into one with a place and a way out.
func syntaxFault(sql string, e *pgparse.Refusal) *Fault {
	offset := runeOffset(sql, e.Cursorpos-1)
	if m := copyStdin.FindAllStringIndex(sql[:offset], -1); m != nil {
		at := m[len(m)-1]
		fault := copyFault(sql[at[0]:at[1]])
		fault.Line, fault.Column = place(sql, at[0])
		return fault
	}
	for at := max(offset-1, 0); at <= offset; at++ { // the parser stops at the $ or behind it
		if placeholder.MatchString(sql[at:min(at+placeholderMost, len(sql))]) {
			return placeholderFault(sql, at)
		}
	}
	if word := postgres.word(sql, offset); strings.ContainsFunc(word, foreignSpace) {
		at := offset + strings.IndexFunc(word, foreignSpace)
		return faultAt(sql, at, foreignSpaceWhat(sql[at:]), foreignSpaceNext)
	}
	what := strings.Join(strings.Fields(e.Message), " ")
	if len(what) > 2*quoteLimit {
		what = excerpt(what)
	}
	line := sql[offset:]
	if i := strings.IndexByte(line, '\n'); i >= 0 {
		line = line[:i]
	}
	if line = excerpt(line); line != "" && !strings.Contains(what, line) {
		what += fmt.Sprintf(" (here: %s)", line)
	}
	return faultAt(sql, offset, what, advice(e.Message, sql, offset))
}

// word is the bare word at offset i, or nothing.
func (d dialect) word(text string, i int) string {
	if i < len(text) {
		if t := d.next(text, i); t.kind == word {
			return text[t.start:t.end]
		}
	}
	return ""
}

// advice says what is likely meant by a text the parser refused.
func advice(message, sql string, offset int) string {
	rest := sql[offset:]
	switch {
	case strings.HasPrefix(rest, `\`):
		command, _, _ := strings.Cut(excerpt(rest), " ")
		return command + " is a command of psql, not SQL: take it out; a plan names the database"
	case strings.Contains(message, "unterminated quoted string"):
		return "close it with ', and write a ' inside of a text as ''"
	case strings.Contains(message, "unterminated dollar-quoted"):
		return "close it with the same $tag$ that opens it"
	case strings.Contains(message, "unterminated quoted identifier"):
		return `close the name with "`
	case strings.Contains(message, "unterminated /* comment"):
		return "close it with */, once for each /* inside of it"
	case strings.HasPrefix(rest, "`"):
		return `backticks are MySQL's: PostgreSQL quotes names with "`
	case strings.HasPrefix(strings.ToUpper(rest), "DELIMITER"):
		return "DELIMITER is of the mysql client: PostgreSQL quotes bodies with $$"
	case strings.Contains(message, "end of input"):
		return "the last statement is not complete"
	}
	return "PostgreSQL's own parser refuses it, so every server would"
}

// runeOffset is the offset of the n-th character.
func runeOffset(text string, n int) int {
	for i := range text {
		if n <= 0 {
			return i
		}
		n--
	}
	return len(text)
}
