package archtest

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// lockRule is a class of advisory locks: the first of the two numbers that name a lock.
type lockRule struct {
	class int
	// of are the folders that use the class.
	of  []string
	why string
}

var (
	advisory  = regexp.MustCompile(`pg_(?:try_)?advisory_xact_lock(?:_shared)?\(([^,()]*(?:\bend)?),`)
	lockClass = regexp.MustCompile(`\b\d+\b`)
)

// checkLocks finds advisory locks whose class is not listed, or belongs to another owner:
// two owners of one class wait for each other without a reason, and may deadlock.
func checkLocks(t *tree, rules []lockRule) []finding {
	var out []finding
	seen := map[int]bool{}
	judge := func(path string, n int, line string) {
		for _, call := range advisory.FindAllStringSubmatch(line, -1) {
			for _, digits := range lockClass.FindAllString(call[1], -1) {
				class, _ := strconv.Atoi(digits) // the pattern has digits only
				seen[class] = true
				if text := judgeLock(class, path, rules); text != "" {
					out = append(out, finding{path, n, text})
				}
			}
		}
	}
	for _, x := range t.texts {
		product := strings.HasSuffix(x.path, ".sql") && strings.HasPrefix(x.path, "schema/functions/") ||
			strings.HasSuffix(x.path, ".go") && !strings.HasSuffix(x.path, "_test.go") && !strings.HasPrefix(x.path, "internal/mutate/")
		if !product {
			continue
		}
		for i, line := range strings.Split(string(x.data), "\n") {
			judge(x.path, i+1, line)
		}
	}
	for _, r := range rules {
		if !seen[r.class] {
			out = append(out, finding{"internal/archtest/rules.go", 0, fmt.Sprintf("lists the lock class %d, which nobody takes: delete the entry", r.class)})
		}
	}
	return out
}

func judgeLock(class int, path string, rules []lockRule) string {
	for _, r := range rules {
		switch {
		case r.class != class:
		case withinAny(path, r.of):
			return ""
		default:
			return fmt.Sprintf("takes a lock of class %d, which is that of %s: %s", class, strings.Join(r.of, " and "), r.why)
		}
	}
	return fmt.Sprintf("takes a lock of class %d: list it in internal/archtest/rules.go, with a number that nobody has", class)
}
