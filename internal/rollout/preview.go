package rollout

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/rollout/script"
	"github.com/weirhq/weir/internal/rollout/target"
)

// PreviewOptions tune a dry run.
type PreviewOptions struct {
	Offline bool `json:"offline,omitempty" doc:"Do not look at the databases: what is applied there is then not known."`
}

// Preview is what a plan would do.
type Preview struct {
	Name   string         `json:"name"`
	Stages []PreviewStage `json:"stages"`
	// Changes are shown once for each engine, with statements, locks and warnings;
	// tasks refer to them by their place.
	Changes []PreviewChange `json:"changes"`
	// Hash is that which the plan would have if it were created now.
	Hash string `json:"hash"`
	// Notes are what a person should know of the databases, taken together.
	Notes []string `json:"notes,omitempty"`
	// Problems counts tasks with one, Skips those with nothing to do.
	Problems int `json:"problems"`
	Skips    int `json:"skips"`
}

// PreviewStage is a stage with the databases it takes.
type PreviewStage struct {
	Stage
	Tasks []PreviewTask `json:"tasks"`
}

// PreviewTask is one change for one database.
type PreviewTask struct {
	Database string `json:"database"`
	// Change is the place in Preview.Changes.
	Change  int    `json:"change"`
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	Canary  bool   `json:"canary,omitempty"`
	// Skip says why it has nothing to do; Problem why it would fail.
	Skip    string `json:"skip,omitempty"`
	Problem string `json:"problem,omitempty"`
	// Warnings are those that this database adds by the size of its tables.
	Warnings []PlanWarning `json:"warnings,omitempty"`
}

// PreviewChange is one change, read for one engine.
type PreviewChange struct {
	Version    string      `json:"version,omitempty"`
	Name       string      `json:"name"`
	Kind       string      `json:"kind"`
	File       string      `json:"file,omitempty"`
	Checksum   string      `json:"checksum"`
	Engine     string      `json:"engine"`
	Statements []Statement `json:"statements"`
	// Steps counts the transactions and the statements outside of one.
	Steps    int           `json:"steps"`
	Warnings []PlanWarning `json:"warnings,omitempty"`
}

// Statement is one statement of a change.
type Statement struct {
	Index   int    `json:"index"`
	Line    int    `json:"line"`
	EndLine int    `json:"end_line"`
	Tag     string `json:"tag"`
	Text    string `json:"text"`
	// Alone: it cannot run inside a transaction.
	Alone bool   `json:"alone,omitempty"`
	Locks []Lock `json:"locks,omitempty"`
}

// Lock is what a statement keeps others from.
type Lock struct {
	Object string `json:"object"`
	Mode   string `json:"mode"`
	Blocks string `json:"blocks,omitempty"`
}

// frozenPlan is what a preview reads of a frozen plan.
type frozenPlan struct {
	Stages []struct {
		Name      string           `json:"name"`
		Databases []frozenDatabase `json:"databases"`
	} `json:"stages"`
	Changes []frozenChange `json:"changes"`
}

type frozenDatabase struct {
	Name     string `json:"name"`
	Engine   string `json:"engine"`
	Identity string `json:"identity"`
}

// twins says which databases are one and the same under several names.
func (p frozenPlan) twins() (notes []string) {
	names, order := map[string][]string{}, []string{}
	for _, s := range p.Stages {
		for _, d := range s.Databases {
			if d.Identity == "" {
				continue
			}
			if names[d.Identity] == nil {
				order = append(order, d.Identity)
			}
			names[d.Identity] = append(names[d.Identity], d.Name)
		}
	}
	for _, id := range order {
		if n := names[id]; len(n) > 1 {
			notes = append(notes, fmt.Sprintf("%s are one and the same database: what comes to the first is there already when it is the turn of the next", strings.Join(n, " and ")))
		}
	}
	return notes
}

func (p frozenPlan) tasks() (n int) {
	for _, s := range p.Stages {
		n += len(s.Databases) * len(p.Changes)
	}
	return n
}

func (p frozenPlan) engines() (engines []script.Engine) {
	for _, s := range p.Stages {
		for _, d := range s.Databases {
			if e := script.Engine(d.Engine); !slices.Contains(engines, e) {
				engines = append(engines, e)
			}
		}
	}
	return engines
}

// warnings are those of all changes, for every engine of the plan.
func (p Plan) warnings(engines []script.Engine) (all []PlanWarning, err error) {
	for _, e := range engines {
		for _, c := range p.Changes {
			found, err := lint(e, c, nil)
			if err != nil {
				return nil, err
			}
			all = append(all, found...)
		}
	}
	return all, nil
}

func lint(e script.Engine, c script.Change, sizes script.Stats) (all []PlanWarning, err error) {
	found, err := script.Lint(e, c, sizes)
	if err != nil {
		return nil, fault("changes", err)
	}
	for _, w := range found {
		all = append(all, PlanWarning{Change: label(c), Line: w.Line, Code: w.Code, What: w.What, Why: w.Why, Instead: w.Instead, Severity: w.Severity})
	}
	return all, nil
}

func readChange(e script.Engine, c script.Change) (PreviewChange, error) {
	p := PreviewChange{Version: c.Version, Name: c.Name, Kind: string(c.Kind), File: c.File, Checksum: c.Checksum, Engine: string(e), Statements: []Statement{}}
	steps, err := script.Steps(e, c)
	if err != nil {
		return p, fault("changes", err)
	}
	p.Steps = len(steps)
	for _, step := range steps {
		for _, x := range step.Statements {
			s := Statement{Index: x.Index, Line: x.Line, EndLine: x.EndLine, Tag: x.Title(), Text: x.Text, Alone: x.Alone}
			for _, l := range x.Locks {
				s.Locks = append(s.Locks, Lock{Object: l.Object, Mode: l.Mode, Blocks: l.Blocks})
			}
			p.Statements = append(p.Statements, s)
		}
	}
	p.Warnings, err = lint(e, c, nil)
	return p, err
}

// Preview says what a plan would do: order, locks of each statement, warnings, what
// is applied already. It writes nothing.
func (s *Store) Preview(ctx context.Context, p Plan, o PreviewOptions) (Preview, error) {
	p, err := p.read()
	if err != nil {
		return Preview{}, err
	}
	asked, _, err := p.asked()
	if err != nil {
		return Preview{}, err
	}
	view := Preview{Name: p.Name}
	raw, hash, err := s.freeze(ctx, asked)
	if err != nil {
		return view, fmt.Errorf("freeze plan: %w", err)
	}
	view.Hash = hash
	var plan frozenPlan
	if err := json.Unmarshal(raw, &plan); err != nil {
		return view, fmt.Errorf("freeze plan: %w", err)
	}
	view.Notes = plan.twins()
	at := map[script.Engine]int{}
	for _, e := range plan.engines() {
		at[e] = len(view.Changes)
		for _, c := range p.Changes {
			read, err := readChange(e, c)
			if err != nil {
				return view, err
			}
			view.Changes = append(view.Changes, read)
		}
	}
	seen := map[string]*known{}
	if !o.Offline {
		seen = s.know(ctx, plan)
	}
	for i, stage := range plan.Stages {
		shown := PreviewStage{Stage: p.Stages[i], Tasks: []PreviewTask{}}
		for n, d := range stage.Databases {
			for k, c := range p.Changes {
				t := PreviewTask{Database: d.Name, Change: at[script.Engine(d.Engine)] + k, Name: c.Name, Version: c.Version, Canary: n < p.Stages[i].Canary}
				seen[d.Name].judge(&t, p, c, view.Changes[t.Change].Warnings)
				if t.Problem != "" {
					view.Problems++
				}
				if t.Skip != "" {
					view.Skips++
				}
				shown.Tasks = append(shown.Tasks, t)
			}
		}
		view.Stages = append(view.Stages, shown)
	}
	return view, nil
}

// known is what a look at a database for a preview found.
type known struct {
	engine script.Engine
	// fault: it cannot be looked at; other: it is another database than the plan's.
	fault, other string
	// denied: its user may not keep Weir's tables there.
	denied  string
	history []target.Entry
	sizes   script.Stats
}

// lookers is how many databases a preview looks at together.
const lookers = 8

// know looks at all databases of a plan.
func (s *Store) know(ctx context.Context, plan frozenPlan) map[string]*known {
	var (
		all   = map[string]*known{}
		mu    sync.Mutex
		wait  sync.WaitGroup
		slots = make(chan struct{}, lookers)
	)
	for _, stage := range plan.Stages {
		for _, d := range stage.Databases {
			wait.Go(func() {
				slots <- struct{}{}
				defer func() { <-slots }()
				k := s.learn(ctx, d)
				mu.Lock()
				defer mu.Unlock()
				all[d.Name] = k
			})
		}
	}
	wait.Wait()
	return all
}

func (s *Store) learn(ctx context.Context, d frozenDatabase) *known {
	k := &known{engine: script.Engine(d.Engine)}
	ctx, cancel := context.WithTimeout(ctx, lookFor)
	defer cancel()
	err := s.with(ctx, d.Name, func(t target.Target) (err error) {
		if err = isOne(ctx, t, d.Name, d.Identity); err != nil {
			if wrong := new(problem.Problem); errors.As(err, &wrong) {
				k.other = wrong.What + "; " + wrong.Next
			}
			return err
		}
		if refused := t.Rights(ctx); refused != nil {
			k.denied = said(connectProblem(refused))
			return nil
		}
		if k.history, err = t.History(ctx); err != nil {
			return err
		}
		k.sizes, err = t.Sizes(ctx)
		return err
	})
	if err != nil {
		k.fault = said(err)
	}
	return k
}

// judge says what would become of a task. general are the warnings that every
// database has.
func (k *known) judge(t *PreviewTask, p Plan, c script.Change, general []PlanWarning) {
	if k == nil { // offline
		return
	}
	if k.other != "" {
		t.Problem = fmt.Sprintf("%s (%s)", k.other, CodeDrift)
		return
	}
	if k.denied != "" {
		t.Problem = fmt.Sprintf("%s (%s)", k.denied, target.CodeForbidden)
		return
	}
	if k.fault != "" {
		t.Problem = "the database cannot be looked at: " + k.fault
		return
	}
	switch was, refused := target.Decide(k.history, target.Run{Change: c, OutOfOrder: p.OutOfOrder}); {
	case refused != nil:
		t.Problem = fmt.Sprintf("%s (%s)", refused.What, refused.Code)
		return
	case was != nil:
		t.Skip = "applied " + was.AppliedAt.UTC().Format("2006-01-02 15:04:05 UTC")
		return
	}
	found, err := lint(k.engine, c, k.sizes)
	if err != nil {
		return // the general look has said so
	}
	for _, w := range found {
		if !slices.Contains(general, w) {
			t.Warnings = append(t.Warnings, w)
		}
	}
}
