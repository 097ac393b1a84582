package target

import (
	"context"
	"strings"

	"github.com/weirhq/weir/internal/rollout/script"
)

// todo is what is to be done with a step that an earlier attempt began.
type todo int

const (
	stepRun     todo = iota // it did not happen
	stepSkip                // it did
	stepClean               // it left something half made: remove that, then run
	stepUnclear             // nobody can tell
)

// schemaPrefix is before a fingerprint in mark.seen, to tell it from a presence.
const schemaPrefix = "schema "

// before is what a step will find, noted so that a later attempt can tell what
// the step itself did.
func (a *attempt) before(step script.Step) (string, error) { return before(a.calm, a.s, step) }

func before(ctx context.Context, s session, step script.Step) (string, error) {
	p := step.Statements[0].Probe
	switch {
	case p != nil && p.What == script.ProbeRepeat:
		return "", nil
	case p != nil:
		found, err := s.probe(ctx, *p)
		return string(found), err
	case !showsInSchema(step.Statements[0]):
		return "", nil
	}
	print, err := s.fingerprint(ctx)
	if print == "" || err != nil {
		return "", err
	}
	return schemaPrefix + print, nil
}

// showsInSchema tells whether the schema is another one after a statement that
// ran, or running it twice does the same. What moves rows, swaps tables or works
// on partitions can leave the schema as it was.
func showsInSchema(s script.Statement) bool {
	verb, _, _ := strings.Cut(s.Tag, " ")
	text := strings.ToLower(s.Text)
	return (verb == "CREATE" || verb == "ALTER" || verb == "DROP") && !strings.Contains(text, "partition") && !strings.Contains(text, "tablespace")
}

// resume looks at the target and says what to do with a step that began.
func (a *attempt) resume(ctx context.Context, step script.Step, m mark) (todo, string, error) {
	t, why, err := resume(ctx, a.s, step, m)
	if err != nil {
		return stepUnclear, "", read(a.e, "look at what an earlier attempt left", err)
	}
	return t, why, nil
}

func resume(ctx context.Context, s session, step script.Step, m mark) (todo, string, error) {
	now, err := before(ctx, s, step)
	if err != nil {
		return stepUnclear, "", err
	}
	t, why := judge(m, step.Statements[0].Probe, now)
	return t, why, nil
}

// judge is the decision behind resume: what the mark says, what was there before
// the step began, and what is there now.
func judge(m mark, p *script.Probe, now string) (todo, string) {
	failed := m.state == stepFailed
	if p != nil && p.What == script.ProbeRepeat {
		return stepRun, "it may run twice"
	}
	if p == nil {
		switch {
		case failed:
			return stepRun, "the server refused it"
		case strings.HasPrefix(now, schemaPrefix) && now == m.seen:
			return stepRun, "the schema is as it was before"
		}
		return stepUnclear, "an earlier attempt began it"
	}
	switch now, was := presence(now), presence(m.seen); {
	case now == half && was == absent && p.Drop != "":
		return stepClean, "an earlier attempt left " + p.What + " " + p.Name + " half made: it is dropped and made again"
	case failed:
		return stepRun, "the server refused it"
	case p.Gone && now == absent:
		if was == absent {
			return stepRun, "there was nothing to remove before it began"
		}
		return stepSkip, p.What + " " + p.Name + " is gone"
	case p.Gone:
		return stepRun, p.What + " " + p.Name + " is still there"
	case now == there && was == absent:
		return stepSkip, p.What + " " + p.Name + " is there"
	case now == half:
		return stepUnclear, "an earlier attempt began it, and " + p.What + " " + p.Name + " was there before"
	}
	return stepRun, p.What + " " + p.Name + " is as it was before"
}
