package definition_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/workflow/definition"
)

// everyKey has a step for each driver; together they use every key of a run.
const everyKey = `
name: every
steps:
  - {key: first, service: s}
  - key: exec
    needs: [first]
    run: {argv: [cmd, -x], env: {A: b}, dir: sub}
    secrets: {TOKEN: one}
    files: {keys/id: two}
    artifacts: ["*.wav"]
    inputs: [first/*.mp4]
    timeout: {queue: 1h, start: 30s, run: 20m, heartbeat: 1m30s}
    disconnect: 2h
    retry: {max_attempts: 2, on: [75, 3]}
  - {key: docker, run: {image: "busybox:1", argv: [ls], env: {A: b}, dir: /data, cpu: 1.5, memory: 2g, pids: 64, network: none}}
  - {key: compose, run: {compose: {file: c.yaml, service: web, url: "http://localhost:8080", idle: 5m}, env: {A: b}, method: PUT, headers: {X: y}}}
  - {key: http, run: {url: "http://localhost:8080/run", method: POST, headers: {X: y}}}
  - {key: func, service: s, run: {driver: func, env: {A: b}}}
`

// TestTheNodeReadsWhatADefinitionWrites compares definition.Run and node.Run, which are
// two structs on purpose, one for the author of a workflow and one for the agent that
// runs it. The second has every field of the first, and no others except those of fleets.
func TestTheNodeReadsWhatADefinitionWrites(t *testing.T) {
	d := parse(t, everyKey)
	if faults := d.Lint(); len(faults.Errors()) > 0 {
		t.Fatal(faults)
	}
	tasks, err := d.Plan(definition.Input{Params: map[string]any{}})
	if err != nil {
		t.Fatal(err)
	}
	read, written := map[string]bool{}, map[string]bool{}
	for _, task := range tasks {
		if task.Run == nil {
			continue
		}
		var run node.Run
		strict := json.NewDecoder(bytes.NewReader(task.Run))
		strict.DisallowUnknownFields()
		if err := strict.Decode(&run); err != nil {
			t.Errorf("%s: %s: %v", task.Key, task.Run, err)
		}
		filled(reflect.ValueOf(run), "", read)
		filled(reflect.ValueOf(*d.Step(task.Key).Run), "", written)
		if task.Key == "exec" && (time.Duration(run.Timeout.Start) != 30*time.Second || time.Duration(run.Timeout.Heartbeat) != 90*time.Second || fmt.Sprint(run.RetryOn) != "[75 3]" ||
			run.Keep(time.Minute) != 2*time.Hour) {
			t.Errorf("the node reads %+v", run)
		}
		if task.Key == "compose" && time.Duration(run.Compose.Idle) != 5*time.Minute {
			t.Errorf("the node reads %+v", run.Compose)
		}
	}
	delete(read, "InfraOn") // a fleet job says that
	for name, all := range map[string]map[string]bool{"node.Run": read, "definition.Run": written} {
		for field, set := range all {
			if !set {
				t.Errorf("%s.%s: no step sets it", name, field)
			}
		}
	}
}

// filled records which fields of a struct, and of nested structs, are set.
func filled(v reflect.Value, prefix string, into map[string]bool) {
	for i := range v.NumField() {
		name, field := prefix+v.Type().Field(i).Name, v.Field(i)
		into[name] = into[name] || !field.IsZero()
		if field.Kind() == reflect.Pointer && !field.IsNil() {
			field = field.Elem()
		}
		if field.Kind() == reflect.Struct {
			filled(field, name+".", into)
		}
	}
}
