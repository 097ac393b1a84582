package script

import (
	"fmt"
	"regexp"
	"strings"
)

// delimiterLine is the command of the mysql client that says what ends a
// statement, so that a body may have semicolons.
var delimiterLine = regexp.MustCompile(`(?i)^[ \t]*delimiter(?:[ \t]+([^\r\n]*?))?[ \t]*\r?(?:\n|$)`)

// mysqlReader reads a script as the mysql client does: from delimiter to
// delimiter, outside of quotes and comments.
type mysqlReader struct {
	sql       string
	delimiter string
	// start is where the pending statement begins, -1 between two.
	start int
	// end is where the last thing of the pending statement ends.
	end int
	// whole is where -- +goose StatementBegin stood, -1 outside: no delimiter
	// counts until StatementEnd.
	whole int
	found []statement
}

func splitMySQL(sql string) ([]statement, *Fault) {
	r := &mysqlReader{sql: sql, delimiter: ";", start: -1, whole: -1}
	for i := 0; i < len(sql); {
		next, fault := r.step(i)
		if fault != nil {
			return nil, fault
		}
		i = next
	}
	if r.whole >= 0 {
		return nil, faultAt(sql, r.whole, "-- +goose StatementBegin has no end", "write -- +goose StatementEnd below the statement")
	}
	if fault := r.flush(); fault != nil {
		return nil, fault
	}
	return r.found, nil
}

// step reads what stands at i and says where to go on.
func (r *mysqlReader) step(i int) (int, *Fault) {
	sql := r.sql
	if i == 0 || sql[i-1] == '\n' {
		if m := delimiterLine.FindStringSubmatchIndex(sql[i:]); m != nil && r.whole < 0 {
			return r.setDelimiter(i, m)
		}
	}
	if r.whole < 0 && strings.HasPrefix(sql[i:], r.delimiter) {
		return i + len(r.delimiter), r.flush()
	}
	if isSpace(sql[i]) {
		return i + 1, nil // one at a time: a DELIMITER may stand behind a line end
	}
	t := mysql.next(sql, i)
	text := sql[t.start:t.end]
	switch {
	case t.open:
		return 0, openFault(sql, t)
	case t.kind == comment && !mysql.executable(text):
		return t.end, r.annotation(i, text)
	case placeholder.MatchString(sql[i:min(i+placeholderMost, len(sql))]):
		return 0, placeholderFault(sql, i)
	case t.kind == mark && text == `\`:
		return 0, faultAt(sql, i, fmt.Sprintf("%s is a command of the mysql client, not SQL", excerpt(sql[i:min(i+2, len(sql))])), "end the statement with ; instead")
	case t.kind == word && strings.ContainsFunc(text, foreignSpace):
		at := i + strings.IndexFunc(text, foreignSpace)
		return 0, faultAt(sql, at, foreignSpaceWhat(sql[at:]), foreignSpaceNext)
	case t.kind == word && r.whole < 0:
		// A delimiter such as $$ may stand right behind a word.
		if n := strings.Index(text, r.delimiter); n > 0 {
			t.end = t.start + n
		}
	}
	if r.start < 0 {
		r.start = i
	}
	r.end = t.end
	return t.end, nil
}

// setDelimiter obeys a DELIMITER line at i.
func (r *mysqlReader) setDelimiter(i int, m []int) (int, *Fault) {
	if r.start >= 0 {
		return 0, faultAt(r.sql, i, fmt.Sprintf("DELIMITER stands inside a statement (%s)", excerpt(r.sql[r.start:r.end])), fmt.Sprintf("end the statement before it with %s", r.delimiter))
	}
	value := ""
	if m[2] >= 0 {
		value, _, _ = strings.Cut(strings.TrimSpace(r.sql[i+m[2]:i+m[3]]), " ")
	}
	if value == "" || strings.ContainsAny(value, "\\'\"`") {
		return 0, faultAt(r.sql, i, "DELIMITER sets none that can be used", "write one without quotes or a backslash, as DELIMITER //")
	}
	r.delimiter = value
	return i + m[1], nil
}

// annotation obeys the comments of goose.
func (r *mysqlReader) annotation(i int, text string) *Fault {
	m := gooseLine.FindStringSubmatch(strings.TrimRight(text, "\r"))
	if m == nil {
		return nil
	}
	switch strings.ToLower(m[1]) {
	case "statementbegin":
		if r.whole >= 0 {
			return faultAt(r.sql, i, "-- +goose StatementBegin stands inside another", "end the first one with -- +goose StatementEnd")
		}
		if fault := r.flush(); fault != nil {
			return fault
		}
		r.whole = i
	case "statementend":
		if r.whole < 0 {
			return faultAt(r.sql, i, "-- +goose StatementEnd has no beginning", "write -- +goose StatementBegin above the statement")
		}
		fault := r.flush()
		r.whole = -1
		return fault
	}
	return nil
}

// flush ends the pending statement, if there is one.
func (r *mysqlReader) flush() *Fault {
	if r.start < 0 {
		return nil
	}
	text := r.sql[r.start:r.end]
	if r.whole >= 0 {
		text = strings.TrimRight(strings.TrimSuffix(text, r.delimiter), " \t\r\n")
	}
	s := statement{Statement: Statement{Text: text, Offset: r.start}}
	start := r.start
	r.start = -1
	if fault := s.fillMySQL(r.delimiter == ";" && r.whole < 0); fault != nil {
		fault.Line, fault.Column = place(r.sql, start)
		return fault
	}
	r.found = append(r.found, s)
	return nil
}

func openFault(sql string, t token) *Fault {
	switch {
	case t.kind == comment:
		return faultAt(sql, t.start, "a comment has no end", "close it with */")
	case sql[t.start] == '`':
		return faultAt(sql, t.start, "a quoted name has no end: "+excerpt(sql[t.start:]), "close it with `")
	}
	q := sql[t.start : t.start+1]
	return faultAt(sql, t.start, "a quoted text has no end: "+excerpt(sql[t.start:]), fmt.Sprintf("close it with %s, and write one inside of a text twice", q))
}

// headPieces bounds what is read of a statement to know what it does.
const headPieces = 1 << 16

// fillMySQL reads what a statement does from its words. bare says that a
// semicolon ended it.
func (s *statement) fillMySQL(bare bool) *Fault {
	first := mysql.pieces(s.Text, 2)
	limit := headPieces
	if len(first) > 0 && first[0].is("INSERT", "REPLACE") {
		limit = 256
	}
	p := mysql.pieces(s.Text, limit)
	s.head = p
	s.Tag = tagOf(p)
	if bare && bodyCut(p, s.Tag) {
		return &Fault{What: fmt.Sprintf("the body of %s ends at its first semicolon", article(s.Tag)), Next: "write DELIMITER // above it, // behind its END, and DELIMITER ; below"}
	}
	switch {
	case len(p) > 0 && p[0].kind == word && !mysqlVerbs[p[0].text] && !labeled(p):
		return &Fault{What: fmt.Sprintf("%s begins no statement", excerpt(p[0].raw)), Next: meant(p[0].text)}
	case s.Tag == "SOURCE":
		return &Fault{What: "SOURCE is a command of the mysql client, not SQL", Next: "make the other file a change of its own"}
	case s.Tag == "LOAD" && len(p) > 2 && p[1].is("DATA") && p[2].is("LOCAL"):
		return &Fault{What: "LOAD DATA LOCAL takes its rows from the program that sends it", Next: "write the rows as INSERT … VALUES, or load them by other means"}
	}
	s.Kind = kindOf(s.Tag)
	s.control = mysqlControl(p)
	s.session = mysqlSession(p)
	if s.control == "" && compound(p) {
		s.Kind = DDL
	}
	s.Alone = mysqlAlone(p, s.Tag)
	s.Locks = mysqlLocks(p, s.Tag)
	if s.Alone {
		s.Probe = mysqlProbe(p, s.Tag)
	}
	return nil
}

// bodyCut says that a routine begins a body and does not end it.
func bodyCut(p []piece, tag string) bool {
	switch tag {
	case "CREATE PROCEDURE", "CREATE FUNCTION", "CREATE TRIGGER", "CREATE EVENT", "ALTER EVENT":
	default:
		if !compound(p) {
			return false
		}
	}
	open := 0
	for i, one := range p {
		switch {
		case one.is("BEGIN"), one.is("CASE") && open > 0 && !p[i-1].is("END"):
			open++
		case one.is("END") && open > 0 && !(i+1 < len(p) && p[i+1].is("IF", "LOOP", "WHILE", "REPEAT")):
			open--
		}
	}
	return open > 0
}

// compound says whether BEGIN begins a block and not a transaction (MariaDB).
func compound(p []piece) bool { return len(p) > 1 && p[0].is("BEGIN") && p[1].is("NOT") }

func mysqlControl(p []piece) string {
	switch {
	case len(p) == 0 || compound(p):
	case p[0].is("BEGIN"), p[0].is("START") && len(p) > 1 && p[1].is("TRANSACTION"):
		return "BEGIN"
	case p[0].is("COMMIT"):
		return "COMMIT"
	case p[0].is("ROLLBACK") && !(len(p) > 1 && (p[1].is("TO") || len(p) > 2 && p[2].is("TO"))):
		return "ROLLBACK"
	}
	return ""
}

// mysqlSession says whether a statement sets up the session, not the server.
func mysqlSession(p []piece) bool {
	if len(p) < 2 || p[0].is("SET") && p[1].is("GLOBAL", "PERSIST", "PERSIST_ONLY", "PASSWORD", "DEFAULT", "TRANSACTION") {
		return false
	}
	return p[0].is("SET", "USE", "PREPARE")
}
