package weirflow

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/weirhq/weir/bench/internal/flow"
	"github.com/weirhq/weir/internal/workflow"
	"github.com/weirhq/weir/internal/workflow/definition"
)

// service is the service of the handler in this process.
const service = "benchmark"

type step map[string]any

// put stores the workflow of a shape under the shape's name.
func (e *Engine) put(ctx context.Context, shape flow.Shape, n int) error {
	text, err := json.Marshal(map[string]any{"name": string(shape), "steps": steps(shape, n)})
	if err != nil {
		return err
	}
	d, faults := definition.Parse(string(shape)+".json", text)
	if err := faults.Err(); err != nil {
		return fmt.Errorf("the workflow of %s: %w", shape, err)
	}
	if _, _, err := e.store.Put(ctx, "bench", d, "", workflow.PutOptions{}); err != nil {
		return fmt.Errorf("store the workflow of %s: %w", shape, err)
	}
	return nil
}

func steps(shape flow.Shape, n int) []step {
	switch shape {
	case flow.Chain, flow.ChainResults, flow.ChainProcess:
		return chain(shape, n)
	case flow.FanNeeds:
		list, middle := []step{{"key": "first", "service": service}}, make([]string, n)
		for i := range n {
			middle[i] = key(i)
			list = append(list, step{"key": key(i), "service": service, "needs": []string{"first"}})
		}
		return append(list, step{"key": "last", "service": service, "needs": middle})
	case flow.FanMap:
		return []step{
			{"key": "first", "service": service, "params": step{"give": n}},
			{"key": "each", "service": service, "needs": []string{"first"}, "map": step{"over": "needs.first.result"}, "params": step{"n": "{{ .item }}"}},
			{"key": "last", "service": service, "needs": []string{"each"}},
		}
	default:
		return []step{{"key": "only", "service": service}}
	}
}

func chain(shape flow.Shape, n int) []step {
	list := make([]step, n)
	for i := range list {
		list[i] = step{"key": key(i), "service": service}
		if shape == flow.ChainProcess {
			list[i] = step{"key": key(i), "run": step{"argv": []string{flow.Program}}}
		}
		if i > 0 {
			list[i]["needs"] = []string{key(i - 1)}
		}
		if shape == flow.ChainResults {
			list[i]["params"] = step{"n": 0}
			if i > 0 {
				list[i]["params"] = step{"n": fmt.Sprintf("{{ .needs.%s.result }}", key(i-1))}
			}
		}
	}
	return list
}

func key(i int) string { return fmt.Sprintf("s%d", i) }
