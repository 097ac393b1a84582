package problem

import (
	"fmt"

	"github.com/weirhq/weir/internal/refusal"
)

// noSuch are the patterns for a missing object, whose first argument is the noun: as an
// id or a name, and as a part of the input.
var noSuch = map[string]bool{refusal.NoSuch: true, refusal.NoEnd: true, "there is no %s %L": true}

// advice is the command to run next, by kind and noun. Its verbs take the arguments of
// the pattern.
var advice = map[Kind]map[string]string{
	NotFound: {
		"task": "weir %[1]s list", "job": "weir %[1]s list", "pool": "weir %[1]s list", "node": "weir %[1]s list",
		"schedule": "weir %[1]s list", "trigger": "weir %[1]s list", "worker": "weir %[1]s list",
	},
	Invalid: {"pool": "weir pool set %[2]s --size 10"},
}

const (
	seeAll      = "see what there is"
	createFirst = "create it first"
)

// noun returns the kind of the missing object, or "" if the problem is another.
func (p *Problem) noun() string {
	if !noSuch[p.Pattern] || len(p.Args) == 0 {
		return ""
	}
	return fmt.Sprint(p.Args[0])
}

// advise sets the command to run next, if the database named one of its own functions or
// none.
func (p *Problem) advise() {
	command := advice[p.Kind][p.noun()]
	switch {
	case command == "":
		return
	case p.Kind == NotFound && p.Next != "":
		p.Next += "; " + seeAll
	case p.Kind == NotFound:
		p.Next = seeAll
	default:
		p.Next = createFirst
	}
	p.Command = fmt.Sprintf(command, p.Args...)
}
