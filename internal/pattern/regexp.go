package pattern

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
)

// The bounds of one regular expression.
const (
	MaxLength = 1000  // bytes
	MaxDepth  = 50    // operators inside one another
	MaxCost   = 5_000 // instructions
)

// Error is a pattern that is refused. At leads to it inside a schema; it is empty elsewhere.
type Error struct {
	At   []string
	What string
	Next string
}

func (e *Error) Error() string { return e.What }

// Regexp compiles a regular expression of a user.
func Regexp(source string) (*regexp.Regexp, error) {
	re, _, err := compile(source)
	return re, err
}

func compile(source string) (*regexp.Regexp, int, error) {
	cost, err := Cost(source)
	if err != nil {
		return nil, 0, err
	}
	re, err := regexp.Compile(source)
	if err != nil {
		return nil, 0, unreadable(source, err)
	}
	return re, cost, nil
}

func unreadable(source string, err error) error {
	return &Error{What: fmt.Sprintf("%q is no pattern: %s", clip(source), err), Next: "the syntax is that of RE2: no look-ahead, no back-references"}
}

// Cost is the number of instructions that a regular expression compiles to, at most. It
// compiles nothing: a counted repeat is multiplied, not written out.
func Cost(source string) (int, error) {
	if len(source) > MaxLength {
		return 0, &Error{What: fmt.Sprintf("a pattern of %d bytes is over the limit of %d", len(source), MaxLength), Next: "write a shorter one"}
	}
	tree, err := syntax.Parse(source, syntax.Perl)
	if err != nil {
		return 0, unreadable(source, err)
	}
	cost, deepest := weigh(tree, 1)
	switch {
	case deepest > MaxDepth:
		return 0, &Error{What: fmt.Sprintf("the parts of the pattern lie more than %d deep in one another", MaxDepth), Next: "write fewer groups"}
	case cost > MaxCost:
		return 0, &Error{What: fmt.Sprintf("the pattern is over the limit of %d instructions, counted repeats multiplied", MaxCost), Next: "repeat fewer times, or check the length with maxLength"}
	}
	return cost, nil
}

// weigh counts the instructions of a tree and how deep it is. The count stops to grow above
// the limit, so that no product overflows.
func weigh(re *syntax.Regexp, depth int) (cost, deepest int) {
	cost, deepest = 2, depth
	if re.Op == syntax.OpLiteral {
		cost = 1 + len(re.Rune)
	}
	for _, sub := range re.Sub {
		c, d := weigh(sub, depth+1)
		cost, deepest = min(cost+c, MaxCost+1), max(deepest, d)
	}
	if re.Op == syntax.OpRepeat {
		cost = min(cost*max(re.Min, re.Max, 1), MaxCost+1)
	}
	return cost, deepest
}

// Wildcard compiles a pattern of names with slashes: * is anything but a slash, ** anything.
// Its cost grows with its length alone.
func Wildcard(source string) *regexp.Regexp {
	parts := strings.Split(source, "**")
	for i, part := range parts {
		words := strings.Split(part, "*")
		for j, word := range words {
			words[j] = regexp.QuoteMeta(word)
		}
		parts[i] = strings.Join(words, `[^/]*`)
	}
	return regexp.MustCompile(`\A` + strings.Join(parts, `.*`) + `\z`)
}

// Like compiles a pattern of SQL: _ is one character, % are some, and a backslash takes the
// meaning from the next. Its cost grows with its length alone.
func Like(source string) *regexp.Regexp {
	var b strings.Builder
	plain := false
	for _, r := range source {
		switch {
		case plain:
			b.WriteString(regexp.QuoteMeta(string(r)))
			plain = false
		case r == '\\':
			plain = true
		case r == '_':
			b.WriteString(".")
		case r == '%':
			b.WriteString(".*")
		default:
			b.WriteString(regexp.QuoteMeta(string(r)))
		}
	}
	return regexp.MustCompile("^(?is:" + b.String() + ")$")
}

// clip keeps an error readable.
func clip(s string) string {
	if r := []rune(s); len(r) > 80 {
		return string(r[:80]) + "…"
	}
	return s
}
