package script

import (
	"fmt"
	"regexp"
	"strings"
	"time"
)

var directiveLine = regexp.MustCompile(`(?i)^\s*--\s*weir:\s*(.*?)\s*$`)

// directives reads the comments above the first statement into c.
func directives(text string, c *Change) *Fault {
	seen := map[string]bool{}
	number := 0
	for line := range strings.Lines(text) {
		number++
		bare := strings.TrimSpace(line)
		if bare != "" && !strings.HasPrefix(bare, "--") {
			return nil
		}
		if m := directiveLine.FindStringSubmatch(bare); m != nil {
			for word := range strings.FieldsSeq(m[1]) {
				column := strings.Index(line, word) + 1
				if fault := directive(word, seen, c); fault != nil {
					fault.Line, fault.Column = number, column
					return fault
				}
			}
		}
	}
	return nil
}

func directive(word string, seen map[string]bool, c *Change) *Fault {
	key, value, found := strings.Cut(word, "=")
	key = strings.ToLower(key)
	if !found || value == "" {
		return &Fault{What: fmt.Sprintf("directive %q has no value", word), Next: "write key=value, without spaces: -- weir: transaction=off lock_timeout=2s"}
	}
	if seen[key] {
		return &Fault{What: fmt.Sprintf("directive %s is given twice", key), Next: "keep one of them"}
	}
	seen[key] = true
	switch key {
	case "transaction":
		switch strings.ToLower(value) {
		case "on":
			c.Transaction = true
		case "off":
			c.Transaction = false
		default:
			return &Fault{What: fmt.Sprintf("transaction=%s is neither on nor off", value), Next: "write transaction=off if the statements of this file must not share a transaction"}
		}
	case "kind":
		switch kind := Kind(strings.ToLower(value)); kind {
		case DDL, Data:
			c.Kind = kind
		default:
			return &Fault{What: fmt.Sprintf("kind=%s is neither ddl nor data", value), Next: "write kind=data if other changes of data may run beside this one"}
		}
	case "lock_timeout":
		if strings.EqualFold(value, "unlimited") {
			return &Fault{What: "lock_timeout=unlimited is refused: everybody behind a change that waits for a lock waits, too", Next: "name a time, such as lock_timeout=10s; only statement_timeout may be unlimited"}
		}
		return period(key, value, &c.LockTimeout)
	case "statement_timeout":
		if strings.EqualFold(value, "unlimited") {
			c.Unlimited = true
			return nil
		}
		return period(key, value, &c.StatementTimeout)
	default:
		return &Fault{What: fmt.Sprintf("there is no directive %s", key), Next: "there are transaction, lock_timeout, statement_timeout and kind"}
	}
	return nil
}

// period reads a time that is more than nothing: a timeout of 0 would mean none
// to the database, and nobody should get that by a short way of writing.
func period(key, value string, to *time.Duration) *Fault {
	d, err := time.ParseDuration(value)
	if err != nil {
		return &Fault{What: fmt.Sprintf("%s=%s is not a time", key, value), Next: "write it with its unit: 500ms, 2s, 10m"}
	}
	if d < time.Millisecond {
		next := "write a time of at least 1ms"
		if key == "statement_timeout" {
			next += ", or statement_timeout=unlimited"
		}
		return &Fault{What: fmt.Sprintf("%s=%s is no limit", key, value), Next: next}
	}
	*to = d
	return nil
}
