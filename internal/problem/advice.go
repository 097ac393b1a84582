package problem

import (
	"fmt"

	"github.com/weirhq/weir/internal/refusal"
)

// noSuch are the patterns of a thing that is not there, whose first argument is the noun:
// as an id or a name, and as a part of the input.
var noSuch = map[string]bool{refusal.NoSuch: true, refusal.NoEnd: true, "there is no %s %L": true}

// advice is the command to run next, by kind and noun. The places are those of the
// pattern.
var advice = map[Kind]map[string]string{
	NotFound: {
		"task": "weir %[1]s list", "job": "weir %[1]s list", "pool": "weir %[1]s list", "node": "weir %[1]s list",
		"schedule": "weir %[1]s list", "worker": "weir %[1]s list",
	},
	Invalid: {"pool": "weir pool set %[2]s --size 10"},
}

const (
	seeAll      = "see what there is"
	createFirst = "create it first"
)

// noun is the kind of the thing that is not there; empty if the problem is another.
func (p *Problem) noun() string {
	if !noSuch[p.Pattern] || len(p.Args) == 0 {
		return ""
	}
	return fmt.Sprint(p.Args[0])
}

// advise names the command to run next, where the database speaks of its own functions
// or of nothing.
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
