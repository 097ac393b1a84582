package rollout

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/rollout/script"
)

// Plan is what a person asks for. [Store.Create] freezes it.
type Plan struct {
	Name   string  `json:"name" maxLength:"200" doc:"For people, such as orders-2026-11."`
	Stages []Stage `json:"stages" maxItems:"1000" doc:"In their order: one begins when the one before is complete."`
	// Files are the changes as people keep them. They are read as package script
	// reads a folder; Changes are for callers that have read them already.
	Files      []File          `json:"files" maxItems:"10000" doc:"The changes. The name of a file gives its version: V001__x.sql, 0001_x.sql, 20260101120000_x.sql, 0001_x.up.sql."`
	Changes    []script.Change `json:"-"`
	Parallel   int             `json:"parallel,omitempty" minimum:"0" maximum:"100000" doc:"How many runs may go on at once. Left out: no limit but one per database."`
	OutOfOrder bool            `json:"out_of_order,omitempty" doc:"Allow versions below the newest one that is applied."`
	RunAt      *time.Time      `json:"run_at,omitempty" doc:"Nothing runs before."`
	Note       string          `json:"note,omitempty" maxLength:"2000"`
}

// File is a change as text.
type File struct {
	Name string `json:"name" maxLength:"300"`
	Text string `json:"text"`
}

// How a stage goes on.
const (
	PromoteAuto   = "auto"
	PromoteManual = "manual"

	OnFailureStop     = "stop"
	OnFailureContinue = "continue"
	OnFailureAtMost   = "at_most"
)

// Stage is a group of databases that come after those of the stage before.
type Stage struct {
	Name string `json:"name" maxLength:"200"`
	// Environment and Labels choose databases; Databases names them. What is chosen
	// is frozen with the plan. A stage of a name alone takes the environment of that
	// name.
	Environment string            `json:"environment,omitempty" maxLength:"200" doc:"Take the databases of this environment."`
	Databases   []string          `json:"databases,omitempty" maxItems:"10000" doc:"Take these."`
	Labels      map[string]string `json:"labels,omitempty" doc:"Take those that have these labels."`
	Approvals   int               `json:"approvals,omitempty" minimum:"0" maximum:"20" doc:"How many people must say yes before it begins."`
	// Promote of the first stage is the start.
	Promote string `json:"promote,omitempty" enum:"auto,manual" doc:"auto: it begins when the stage before is complete; manual: a person lets it begin. Default: auto."`
	// OnFailure: a stage with failures that are allowed counts as complete.
	OnFailure   string `json:"on_failure,omitempty" enum:"stop,continue,at_most" doc:"stop: nothing new starts in it; continue; at_most: max_failures are borne. Default: stop."`
	MaxFailures int    `json:"max_failures,omitempty" minimum:"0" maximum:"100000"`
	Canary      int    `json:"canary,omitempty" minimum:"0" maximum:"100000" doc:"So many of its databases go first."`
}

const (
	// nameMost bounds names of plans, stages and changes: they are part of keys.
	nameMost = 80
	// tasksMost is what one job may have.
	tasksMost = 30_000
	// approvalsMost is more people than decide about anything.
	approvalsMost = 20
)

var goodStage = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.:-]{0,59}$`)

// read makes changes of the files, and refuses a plan that nobody could carry out.
// All that is wrong with the plan itself is found here; which databases there are,
// the database knows.
func (p Plan) read() (Plan, error) {
	p.Changes = slices.Clone(p.Changes)
	for _, f := range p.Files {
		c, err := script.Read(f.Name, []byte(f.Text))
		if err != nil {
			return p, fault("files", err)
		}
		p.Changes = append(p.Changes, c)
	}
	p.Files = nil
	if err := p.check(); err != nil {
		return p, err
	}
	return p, p.order()
}

func (p Plan) check() error {
	faults := p.Faults()
	if len(faults) == 0 {
		if len(p.Changes) == 0 {
			return problem.Refuse("changes", "give a folder with files such as V001__create_orders.sql", "a plan has at least one change")
		}
		return nil
	}
	field, what, next := faults[0].field(), []string{}, []string{}
	for _, f := range faults {
		if f.field() == field {
			what, next = append(what, f.Said(p)), append(next, f.Next)
		}
	}
	return problem.Refuse(field, strings.Join(slices.Compact(next), "; "), "%s", strings.Join(what, "; "))
}

// PlanFault is one thing that is wrong with a plan, whatever databases there are.
type PlanFault struct {
	// Stage is the place of the stage that it is about; -1: the plan itself.
	Stage int
	// Problem is at a field of the stage or of the plan.
	*problem.Problem
}

// Said is what is wrong to a reader of the whole plan, which may have other stages.
func (f PlanFault) Said(p Plan) string {
	if f.Stage < 0 || f.Field == "name" {
		return f.Sentence()
	}
	return fmt.Sprintf("stage %s: %s", p.Stages[f.Stage].Name, f.Sentence())
}

// field is the field of the plan that a program reads of.
func (f PlanFault) field() string {
	if f.Stage >= 0 {
		return "stages"
	}
	return f.Field
}

// Faults are all that is wrong with a plan, in its order. Its changes are not looked at.
func (p Plan) Faults() (faults []PlanFault) {
	add := func(field, next, format string, args ...any) {
		faults = append(faults, PlanFault{-1, problem.Refuse(field, next, format, args...)})
	}
	if strings.TrimSpace(p.Name) == "" || len(p.Name) > nameMost {
		add("name", "such as orders-2026-11", "a rollout has a name of at most %d bytes", nameMost)
	}
	if len(p.Stages) == 0 {
		add("stages", "name an environment, or databases", "a plan has at least one stage")
	}
	if p.Parallel < 0 {
		add("parallel", "0 is no limit", "%d is negative", p.Parallel)
	}
	seen := map[string]bool{}
	for i, s := range p.Stages {
		found := s.faults()
		if seen[s.Name] && s.Name != "" {
			found = append(found, problem.Refuse("name", "give each a name of its own", "two stages are called %s", s.Name))
		}
		seen[s.Name] = true
		for _, f := range found {
			faults = append(faults, PlanFault{i, f})
		}
	}
	return faults
}

func (s Stage) faults() (faults []*problem.Problem) {
	refuse := func(wrong bool, field, next, format string, args ...any) {
		if wrong {
			faults = append(faults, problem.Refuse(field, next, format, args...))
		}
	}
	refuse(!goodStage.MatchString(s.Name), "name", "letters, digits, and _ . : - inside, at most 60: such as prod", "%.80q is not a name for a stage", s.Name)
	refuse(s.Approvals < 0 || s.Approvals > approvalsMost, "approvals", "0 needs nobody", "%d approvals are not 0 to %d", s.Approvals, approvalsMost)
	refuse(s.Promote != "" && s.Promote != PromoteAuto && s.Promote != PromoteManual, "promote", "auto or manual", "promote %.40q is not known", s.Promote)
	known := slices.Contains([]string{"", OnFailureStop, OnFailureContinue, OnFailureAtMost}, s.OnFailure)
	refuse(!known, "on_failure", "stop, continue or at_most", "on_failure %.40q is not known", s.OnFailure)
	refuse(s.OnFailure == OnFailureAtMost && s.MaxFailures < 1, "on_failure", "or on_failure stop", "at_most needs max_failures of 1 or more")
	refuse(known && s.OnFailure != OnFailureAtMost && s.MaxFailures != 0, "max_failures", "set on_failure to at_most", "max_failures means something with at_most alone")
	refuse(s.Canary < 0, "canary", "0 is none", "%d canaries", s.Canary)
	refuse(len(s.Databases) > 0 && s.Canary > len(s.Databases), "canary", "canaries go before the others: give fewer", "canary is %d, and it has %s", s.Canary, counted(len(s.Databases), "database"))
	refuse(len(s.Databases) > 0 && len(s.Labels) > 0, "labels", "give one of the two", "databases are named, or chosen by labels")
	return faults
}

// counted is a number with its noun.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// order sorts changes as they are applied: versions upwards, then what has none, in
// the order given, repeatable ones last. Two of one key are a fault.
func (p *Plan) order() error {
	ranks := make(map[string]int64, len(p.Changes))
	files := make(map[string]string, len(p.Changes))
	for i := range p.Changes {
		c := &p.Changes[i]
		c.Checksum = script.Checksum(c.SQL)
		if c.Kind == "" {
			c.Kind = script.DDL
		}
		key := label(*c)
		if key == "" || len(key) > nameMost || strings.ContainsRune(key, '/') {
			return problem.Refuse("changes", "such as V001__create_orders.sql", "%.120q is not a name for a change: 1 to %d bytes, no /", key, nameMost)
		}
		if other, twice := files[key]; twice {
			return problem.Refuse("changes", "give each a version of its own", "%s and %s are both %s", cmp.Or(other, "a change"), cmp.Or(c.File, "another"), key)
		}
		files[key] = c.File
		if c.Version != "" {
			rank, err := script.Rank(c.Version)
			if err != nil {
				return fault("changes", err)
			}
			ranks[c.Version] = rank
		}
	}
	class := func(c script.Change) int {
		switch {
		case c.Version != "":
			return 0
		case c.Repeatable:
			return 2
		}
		return 1
	}
	slices.SortStableFunc(p.Changes, func(a, b script.Change) int {
		return cmp.Or(cmp.Compare(class(a), class(b)), cmp.Compare(ranks[a.Version], ranks[b.Version]))
	})
	return nil
}

// label is what a change is called in keys: its version, or its name without one.
func label(c script.Change) string { return cmp.Or(c.Version, c.Name) }

// frozenChange is a change in a frozen plan: all but its text.
type frozenChange struct {
	Version          string `json:"version,omitempty"`
	Name             string `json:"name"`
	Kind             string `json:"kind"`
	File             string `json:"file,omitempty"`
	Checksum         string `json:"checksum"`
	Rank             *int64 `json:"rank,omitempty"`
	Transaction      bool   `json:"transaction"`
	LockTimeout      int64  `json:"lock_timeout_ms,omitempty"`
	StatementTimeout int64  `json:"statement_timeout_ms,omitempty"`
	Unlimited        bool   `json:"unlimited,omitempty"`
	Repeatable       bool   `json:"repeatable,omitempty"`
}

func (f frozenChange) change(sql string) script.Change {
	return script.Change{
		Version: f.Version, Name: f.Name, Kind: script.Kind(f.Kind), File: f.File, SQL: sql, Checksum: f.Checksum, Transaction: f.Transaction,
		LockTimeout: time.Duration(f.LockTimeout) * time.Millisecond, StatementTimeout: time.Duration(f.StatementTimeout) * time.Millisecond,
		Unlimited: f.Unlimited, Repeatable: f.Repeatable,
	}
}

// asked is a plan as weir.rollout_freeze takes it, and the texts by checksum.
func (p Plan) asked() (plan json.RawMessage, texts map[string]string, err error) {
	texts = map[string]string{}
	changes := make([]frozenChange, len(p.Changes))
	for i, c := range p.Changes {
		f := frozenChange{
			Version: c.Version, Name: cmp.Or(c.Name, c.Version), Kind: string(c.Kind), File: c.File, Checksum: c.Checksum, Transaction: c.Transaction,
			LockTimeout: c.LockTimeout.Milliseconds(), StatementTimeout: c.StatementTimeout.Milliseconds(), Unlimited: c.Unlimited, Repeatable: c.Repeatable,
		}
		if c.Version != "" {
			rank, err := script.Rank(c.Version)
			if err != nil {
				return nil, nil, fault("changes", err)
			}
			f.Rank = &rank
		}
		changes[i], texts[c.Checksum] = f, c.SQL
	}
	plan, err = json.Marshal(struct {
		Name       string         `json:"name"`
		Stages     []Stage        `json:"stages"`
		Changes    []frozenChange `json:"changes"`
		Parallel   int            `json:"parallel,omitempty"`
		OutOfOrder bool           `json:"out_of_order,omitempty"`
		RunAt      *time.Time     `json:"run_at,omitempty"`
	}{p.Name, p.Stages, changes, p.Parallel, p.OutOfOrder, p.RunAt})
	return plan, texts, err
}

// fault makes a problem of what is wrong with a script.
func fault(field string, err error) error {
	var f *script.Fault
	if errors.As(err, &f) {
		bare := *f
		bare.Next = ""
		return &problem.Problem{Kind: problem.Invalid, Field: field, What: field + ": " + bare.Error(), Next: f.Next, Err: err}
	}
	return problem.Refuse(field, "", "%v", err)
}
