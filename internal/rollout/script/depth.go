package script

// maxDepth bounds how deep a statement may nest. The parser's module has 64 KiB
// of stack: a tree of some hundred levels overflows it, and the module then
// traps or never comes back. What is counted here is a bound of the tree's
// depth, at about a third of what is too much.
const maxDepth = 400

const lessDeep = "write it with fewer brackets, operators or UNIONs in one another, or cut it in two"

// level is what has been read inside of one bracket.
type level struct {
	// run are the words since the expression began: no chain of operators is
	// longer than that.
	run int
	// joined are the JOINs and UNIONs, which make a chain across expressions.
	joined int
	// cases are the CASEs that are open.
	cases int
}

func (l level) cost() int { return l.run + l.joined + bracketCost*l.cases }

// bracketCost is what a bracket or CASE counts beside its words: its part of
// the tree has several levels.
const bracketCost = 4

// endings end an expression, so that what follows is beside it and not in it.
var endings = map[string]bool{
	"AND": true, "OR": true, "WHEN": true, "THEN": true, "ELSE": true, "SELECT": true, "FROM": true, "WHERE": true, "ON": true, "USING": true, "SET": true, "AS": true,
}

var joins = map[string]bool{"JOIN": true, "UNION": true, "EXCEPT": true, "INTERSECT": true}

// tooDeep is the place where a script nests more than maxDepth deep, or -1.
func tooDeep(sql string) int {
	levels := make([]level, 1, 16)
	outer := 0 // the cost of all levels but the last
	for i := 0; i < len(sql); {
		t := postgres.next(sql, i)
		text := sql[t.start:t.end]
		i = t.end
		last := &levels[len(levels)-1]
		switch {
		case t.kind == space || t.kind == comment:
			continue
		case text == "(" || text == "[":
			outer += last.cost() + bracketCost
			levels = append(levels, level{})
			last = &levels[len(levels)-1]
		case (text == ")" || text == "]") && len(levels) > 1:
			levels = levels[:len(levels)-1]
			last = &levels[len(levels)-1]
			outer -= last.cost() + bracketCost
		case text == ";":
			levels, outer = append(levels[:0], level{}), 0
			continue
		case text == ",":
			last.run = 0
		case t.kind == word:
			last.word(upper(text))
		default:
			last.run++
		}
		if outer+last.cost() > maxDepth {
			return t.start
		}
	}
	return -1
}

func (l *level) word(text string) {
	switch {
	case text == "CASE":
		l.cases++
	case text == "END":
		l.cases = max(l.cases-1, 0)
	case joins[text]:
		l.joined++
		l.run = 0
		return
	}
	if endings[text] {
		l.run = 0
		return
	}
	l.run++
}

// longestWord is as long as the words that count here.
const longestWord = 9

// upper is a word in capitals, or nothing if it is too long to count: a script
// of a megabyte is mostly such words.
func upper(text string) string {
	if len(text) > longestWord {
		return ""
	}
	var b [longestWord]byte
	for i := range len(text) {
		c := text[i]
		if c >= 'a' && c <= 'z' {
			c -= 'a' - 'A'
		}
		b[i] = c
	}
	return string(b[:len(text)])
}
