package rollout

import (
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/rollout/script"
)

// Offline says what the changes of a plan are, read for one engine, without any
// database: which tasks its stages have is not known. It needs no store.
func Offline(p Plan, engine script.Engine) (Preview, error) {
	for _, f := range p.Files {
		c, err := script.Read(f.Name, []byte(f.Text))
		if err != nil {
			return Preview{}, fault("files", err)
		}
		p.Changes = append(p.Changes, c)
	}
	if len(p.Changes) == 0 {
		return Preview{}, problem.Refuse("changes", "give a folder with files such as V001__create_orders.sql", "a plan has at least one change")
	}
	if err := p.order(); err != nil {
		return Preview{}, err
	}
	out := Preview{Name: p.Name}
	if len(p.Stages) > 0 {
		if err := p.check(); err != nil {
			return out, err
		}
	}
	for _, s := range p.Stages {
		out.Stages = append(out.Stages, PreviewStage{Stage: s, Tasks: []PreviewTask{}})
	}
	for _, c := range p.Changes {
		read, err := readChange(engine, c)
		if err != nil {
			return out, err
		}
		out.Changes = append(out.Changes, read)
	}
	return out, nil
}
