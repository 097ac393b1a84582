package enginetest

import "testing"

// fields are a value for each field of weir.task_spec that is a column of weir.tasks as well.
var fields = spec{
	"key": "k", "params": spec{"a": 1}, "run_at": at(1000), "hold": "h", "lane": "l", "rank": 7, "exclusive": true, "pool": "p",
	"max_attempts": 5, "timeout": "5 s", "backoff": "6 s", "backoff_cap": "7 s", "unique_key": "u", "trace": "t", "plan": true,
	"run": spec{"driver": "exec"}, "needs": []string{"first"}, "rule": "all_done",
}

// notInJobs are fields that a task which joins a job cannot have.
var notInJobs = map[string]bool{"unique_key": true}

// A field that is taken is written, whichever way a task comes: alone, with its job, or into a
// job that is there.
func TestFieldsOfATaskAreKept(t *testing.T) {
	e := start(t)
	e.exec(`select weir.set_pool('p', 1)`)
	columns := all[string](e, `select f.attname::text from pg_attribute f join pg_attribute c on c.attname = f.attname
		where f.attrelid = 'weir.task_spec'::regclass and c.attrelid = 'weir.tasks'::regclass and f.attnum > 0 and not f.attisdropped and not c.attisdropped`)
	if len(columns) < len(fields) {
		t.Errorf("weir.task_spec and weir.tasks share %d columns, the test has %d values", len(columns), len(fields))
	}
	first := spec{"service": "s", "key": "first"}
	made := func(leave map[string]bool) spec {
		s := spec{"service": "s"}
		for _, name := range columns {
			if fields[name] == nil {
				t.Fatalf("the test has no value for %s", name)
			}
			if !leave[name] {
				s[name] = fields[name]
			}
		}
		return s
	}
	kept := func(way, task string, leave map[string]bool) {
		t.Helper()
		row := one[map[string]any](e, `select to_jsonb(q) from weir.tasks q where q.id = $1`, task)
		for _, name := range columns {
			if row[name] == nil && !leave[name] {
				t.Errorf("%s: %s was taken and is not written", way, name)
			}
		}
	}
	alone := map[string]bool{"needs": true, "rule": true}
	kept("alone", e.submit(0, made(alone)), alone)
	// A task without a gate and a key has a statement of its own.
	bare := map[string]bool{
		"needs": true, "rule": true, "run_at": true, "hold": true, "lane": true, "rank": true, "exclusive": true, "pool": true, "unique_key": true, "plan": true,
	}
	kept("without a gate", e.submit(0, made(bare)), bare)
	job, ids := e.submitJob(0, first, made(notInJobs))
	kept("with its job", ids["k"], notInJobs)
	more := made(notInJobs)
	more["key"] = "more"
	kept("into a job", one[string](e, `select task from weir.add_tasks($1, jsonb_build_array($2::jsonb), at => $3)`, job, encode(more), at(1)), notInJobs)
}
