package definition

import (
	"encoding/json"
	"fmt"
	"sync"

	"github.com/weirhq/weir/internal/pattern"
)

// memo caches what is computed once for all jobs of a definition. It is safe for
// concurrent use. The steps and params of a parsed definition must not be changed
// afterwards; its name and version may be.
type memo struct {
	schema func() (paramsSchema, error)
	number map[string]int
	steps  []func() (*compiled, Faults)
}

type paramsSchema struct {
	plain map[string]any // read only
	rules *pattern.Schema
}

func (d *Definition) remember() {
	m := &memo{number: make(map[string]int, len(d.Steps)), steps: make([]func() (*compiled, Faults), len(d.Steps))}
	m.schema = sync.OnceValues(d.readSchema)
	for i := range d.Steps {
		s := &d.Steps[i]
		m.number[s.Key] = i
		m.steps[i] = sync.OnceValues(func() (*compiled, Faults) { return d.compileStep(s) })
	}
	d.memo = m
}

// compile returns the parsed form of a step. Callers only read it.
func (d *Definition) compile(s *Step) (*compiled, Faults) {
	if d.memo != nil {
		if i, ok := d.memo.number[s.Key]; ok && i < len(d.Steps) && &d.Steps[i] == s {
			return d.memo.steps[i]()
		}
	}
	return d.compileStep(s)
}

func (d *Definition) schema() (paramsSchema, error) {
	if d.memo != nil {
		return d.memo.schema()
	}
	return d.readSchema()
}

func (d *Definition) readSchema() (s paramsSchema, err error) {
	if len(d.Params) == 0 {
		return s, nil
	}
	if err := json.Unmarshal(d.Params, &s.plain); err != nil {
		return s, fmt.Errorf("read the schema of %s: %w", d.Name, err)
	}
	if s.rules, err = compileSchema(d.Params); err != nil {
		return s, fmt.Errorf("read the schema of %s: %w", d.Name, err)
	}
	return s, nil
}
