package script

import "strings"

// tokenKind is what a piece of a text is.
type tokenKind int

const (
	space tokenKind = iota
	comment
	word   // a keyword, a bare name or a number
	name   // a quoted name
	quoted // a text
	mark   // any other character
)

// token is a piece of a text.
type token struct {
	kind       tokenKind
	start, end int
	// open marks a quote or comment that the text ends in.
	open bool
}

// dialect is how an engine quotes and comments.
type dialect struct {
	backslash bool // 'it\'s'
	backtick  bool // `name`, and "text" is a text
	hash      bool // # comment
	strict    bool // -- is a comment only before white space
	dollar    bool // $tag$ … $tag$
	nested    bool // /* /* */ */
}

var (
	postgres = dialect{dollar: true, nested: true}
	mysql    = dialect{backslash: true, backtick: true, hash: true, strict: true}
)

// next is the token at offset i, which is inside the text.
func (d dialect) next(text string, i int) token {
	rest := text[i:]
	c := rest[0]
	piece := func(kind tokenKind, n int) token {
		if n < 0 {
			return token{kind: kind, start: i, end: len(text), open: true}
		}
		return token{kind: kind, start: i, end: i + n}
	}
	switch {
	case isSpace(c):
		n := 1
		for n < len(rest) && isSpace(rest[n]) {
			n++
		}
		return piece(space, n)
	case c == '#' && d.hash, strings.HasPrefix(rest, "--") && (!d.strict || len(rest) == 2 || rest[2] <= ' '):
		if n := strings.IndexByte(rest, '\n'); n >= 0 {
			return piece(comment, n)
		}
		return piece(comment, len(rest))
	case strings.HasPrefix(rest, "/*"):
		return piece(comment, d.block(rest))
	case c == '\'':
		return piece(quoted, quote(rest, d.backslash))
	case (c == 'e' || c == 'E') && strings.HasPrefix(rest[1:], "'") && !d.backtick:
		n := quote(rest[1:], true)
		if n < 0 {
			return piece(quoted, n)
		}
		return piece(quoted, n+1)
	case c == '"' && d.backtick:
		return piece(quoted, quote(rest, d.backslash))
	case c == '"', c == '`' && d.backtick:
		return piece(name, quote(rest, false))
	case c == '$' && d.dollar && dollarTag(rest) != "":
		tag := dollarTag(rest)
		if n := strings.Index(rest[len(tag):], tag); n >= 0 {
			return piece(quoted, n+2*len(tag))
		}
		return piece(quoted, -1)
	case isWord(c):
		n := 1
		for n < len(rest) && isWord(rest[n]) {
			n++
		}
		return piece(word, n)
	}
	return piece(mark, 1)
}

// block is the length of the comment that s begins with, -1 if it has no end.
func (d dialect) block(s string) int {
	if !d.nested {
		if n := strings.Index(s[2:], "*/"); n >= 0 {
			return n + 4
		}
		return -1
	}
	depth := 0
	for i := 0; i+1 < len(s); i++ {
		switch s[i : i+2] {
		case "/*":
			depth++
			i++
		case "*/":
			depth--
			i++
			if depth == 0 {
				return i + 1
			}
		}
	}
	return -1
}

// quote is the length of the quoted text that s begins with, -1 if it has no
// end. A quote is written twice inside it.
func quote(s string, backslash bool) int {
	for i := 1; i < len(s); i++ {
		switch {
		case backslash && s[i] == '\\':
			i++
		case s[i] == s[0] && i+1 < len(s) && s[i+1] == s[0]:
			i++
		case s[i] == s[0]:
			return i + 1
		}
	}
	return -1
}

// dollarTag is the $tag$ that s begins with, or nothing.
func dollarTag(s string) string {
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '$':
			return s[:i+1]
		case !isWord(c), i == 1 && c >= '0' && c <= '9':
			return ""
		}
	}
	return ""
}

// isWord says whether a character can stand in a bare name. Bytes of a longer
// character can: databases take letters of all languages.
func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '$' || c >= 0x80
}

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// skip is the offset of the first thing that is neither white space nor a comment.
func (d dialect) skip(text string, i int) int {
	for i < len(text) {
		t := d.next(text, i)
		if t.kind != space && (t.kind != comment || d.executable(text[t.start:t.end])) {
			return i
		}
		i = t.end
	}
	return i
}

// executable says whether a comment is a statement to some servers: /*!40101 SET … */.
func (d dialect) executable(text string) bool {
	return d.backtick && (strings.HasPrefix(text, "/*!") || strings.HasPrefix(text, "/*M!"))
}

// inside is what an executable comment holds.
func inside(text string) string {
	_, body, _ := strings.Cut(text, "!")
	return strings.TrimLeft(strings.TrimSuffix(body, "*/"), "0123456789")
}

// piece is one token of a statement that means something.
type piece struct {
	kind tokenKind
	// text is in capitals if it is a bare word, and without its quotes if it is
	// a name.
	text string
	// raw is as it stands in the script.
	raw string
}

// is says whether a piece is a keyword or a mark.
func (p piece) is(words ...string) bool {
	if p.kind != word && p.kind != mark {
		return false
	}
	for _, w := range words {
		if p.text == w {
			return true
		}
	}
	return false
}

// pieces are the tokens of a text that mean something, at most limit of them.
// Executable comments are read as what they hold.
func (d dialect) pieces(text string, limit int) []piece {
	var out []piece
	for i := 0; i < len(text) && len(out) < limit; {
		t := d.next(text, i)
		i = t.end
		raw := text[t.start:t.end]
		switch t.kind {
		case space:
		case comment:
			if d.executable(raw) {
				out = append(out, d.pieces(inside(raw), limit-len(out))...)
			}
		case name:
			out = append(out, piece{name, unquote(raw), raw})
		case word, mark:
			out = append(out, piece{t.kind, strings.ToUpper(raw), raw})
		case quoted:
			out = append(out, piece{quoted, raw, raw})
		}
	}
	return out
}

// unquote is a quoted name without its quotes.
func unquote(raw string) string {
	if len(raw) < 2 {
		return raw
	}
	q := raw[:1]
	return strings.ReplaceAll(strings.TrimSuffix(raw[1:], q), q+q, q)
}
