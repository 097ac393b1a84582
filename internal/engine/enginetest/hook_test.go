package enginetest

import (
	"strings"
	"testing"
)

// asked are the hooks that the engine asks for, with the arguments that it gives. A function of a
// domain with other arguments would not be found, and nothing else would say so.
var asked = map[string]string{
	"why_task": "uuid, timestamptz", "why_job": "uuid, timestamptz", "why_ended": "uuid, timestamptz", "revive": "uuid[]", "scheduled_task": "jsonb, interval",
}

func TestHooksAreFound(t *testing.T) {
	e := start(t)
	for what, arguments := range asked {
		functions := all[string](e, `select p.proname::text from pg_proc p where p.pronamespace = 'weir'::regnamespace and starts_with(p.proname, '_' || $1 || '_of_')`, what)
		if len(functions) == 0 {
			t.Errorf("no domain has a function for %s", what)
		}
		for _, name := range functions {
			_, kind, _ := strings.Cut(name, "_of_")
			if !one[bool](e, `select weir._hook($1, $2, $3) is not null`, what, kind, arguments) {
				t.Errorf("weir.%s does not take (%s): the engine does not find it", name, arguments)
			}
		}
	}
	if one[bool](e, `select weir._hook('why_job', 'job', 'uuid, timestamptz') is not null`) {
		t.Error("a kind of no domain has a hook")
	}
}
