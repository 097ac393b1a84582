package scenarios

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// verbs is the language of the scenarios: what each command calls.
var verbs map[string]func(*story, command) ([]string, error)

func init() {
	verbs = map[string]func(*story, command) ([]string, error){
		"submit": submit, "job": job, "claim": claim, "tick": tick, "show": show, "why": why, "events": events, "pool": pool, "node": node, "worker": worker,
		"finish": lease(`select weir.finish($1, $2, $3, at => $4)`),
		"return": giveBack, "renew": renew, "broken": broken,
		"confirm": lease(`select weir.confirm_cancel($1, $2, $3, at => $4)`),
		"fail":    fail,
		"snooze":  snooze,
		"queue":   queue, "add": add, "plan": plan, "split": split, "decide": decide,
		"close": func(s *story, c command) ([]string, error) {
			return s.call(`select weir.close_job($1, 'failed', $2, at => $3)::text`, s.ids[c.word(0)], c.word(1), s.now)
		},
		"cancel": cancel,
		"hold": func(s *story, c command) ([]string, error) {
			return s.call(`select weir.hold($1, $2, at => $3)::text`, s.ids[c.word(0)], c.fields["by"], s.now)
		},
		"release": func(s *story, c command) ([]string, error) {
			return s.call(`select weir.release($1, at => $2)::text`, s.ids[c.word(0)], s.now)
		},
		"retry": func(s *story, c command) ([]string, error) {
			if c.word(0) == "job" {
				return s.query(`select format('%s run again', weir.retry_job($1, at => $2))`, s.ids[c.word(1)], s.now)
			}
			return s.call(`select weir.retry($1, at => $2)::text`, s.ids[c.word(0)], s.now)
		},
		"skip": func(s *story, c command) ([]string, error) {
			return s.call(`select weir.skip($1, $2, coalesce($3, 'ann'), at => $4)::text`, s.ids[c.word(0)], c.word(1), field(c, "by"), s.now)
		},
		"priority": func(s *story, c command) ([]string, error) {
			return s.call(`select weir.set_priority($1, $2, at => $3)::text`, s.ids[c.word(0)], c.word(1), s.now)
		},
	}
}

// field is a named field, or null.
func field(c command, name string) *string {
	if v, ok := c.fields[name]; ok {
		return &v
	}
	return nil
}

// spec makes the JSON of a task from the fields of a command.
func (s *story) spec(c command, key string) map[string]any {
	spec := map[string]any{"service": "work"}
	if key != "" {
		spec["key"] = key
	}
	for name, value := range c.fields {
		switch name {
		case "needs":
			spec[name] = strings.Split(value, ",")
		case "run_at":
			spec[name] = s.now.Add(duration(value))
		case "rank", "priority", "max_attempts":
			n, err := strconv.Atoi(value)
			if err != nil {
				s.t.Fatalf("%s=%s: %v", name, value, err)
			}
			spec[name] = n
		case "exclusive", "plan":
			spec[name] = value == "yes"
		case "labels":
			spec[name] = pairs(value)
		default:
			spec[name] = value
		}
	}
	return spec
}

func pairs(text string) map[string]any {
	out := map[string]any{}
	for _, p := range strings.Split(text, ",") {
		if k, v, ok := strings.Cut(p, ":"); ok {
			out[k] = v
		}
	}
	return out
}

func encode(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // made of maps and strings
	}
	return string(b)
}

func duration(text string) time.Duration {
	d, err := time.ParseDuration(text)
	if err != nil {
		panic(fmt.Sprintf("%q is not a time like 10s or 5m", text))
	}
	return d
}

func submit(s *story, c command) ([]string, error) {
	ids, err := s.query(`select task::text from weir.submit_many(jsonb_build_array($1::jsonb), true, $2)`, encode(s.spec(c, "")), s.now)
	if err != nil {
		return nil, err
	}
	for _, name := range s.names {
		if s.ids[name] == ids[0] {
			return []string{c.word(0) + " is " + name}, nil
		}
	}
	s.names = append(s.names, c.word(0))
	s.ids[c.word(0)] = ids[0]
	return s.sweep()
}

func job(s *story, c command) ([]string, error) {
	if len(c.below) == 0 {
		return s.query(`select format('%s: %s, %s of %s done, %s failed, %s canceled, %s skipped', name, state, done, total, failed, canceled, skipped) from weir.job where id = $1`, s.ids[c.word(0)])
	}
	ids, err := s.query(`select weir.submit_job($1, $2, at => $3)::text`, encode(s.specs(c)), c.word(0), s.now)
	if err != nil {
		return nil, err
	}
	s.ids[c.word(0)] = ids[0]
	tasks, err := s.query(`select id::text from weir.tasks where job = $1 order by position`, ids[0])
	for i, id := range tasks {
		s.names = append(s.names, c.below[i].verb)
		s.ids[c.below[i].verb] = id
	}
	if err != nil {
		return nil, err
	}
	return s.sweep()
}

// sweep opens gates, as a server does when it hears of a submission.
func (s *story) sweep() ([]string, error) {
	_, err := s.query(`select weir.open_gates(at => $1)::text`, s.now)
	return nil, err
}

func claim(s *story, c command) ([]string, error) {
	service, worker, n := c.word(0), c.fields["worker"], c.fields["n"]
	if service == "" {
		service = "work"
	}
	if worker == "" {
		worker = "w"
	}
	if n == "" {
		n = "1"
	}
	got, err := s.query(`select task || ' ' || attempt || ' ' || token
		from weir.claim($1, array[$2], $3, lease => coalesce($4, '30 s')::interval, at => $5)`, worker, service, n, field(c, "lease"), s.now)
	if err != nil {
		return nil, err
	}
	if len(got) == 0 {
		return []string{worker + " gets nothing"}, nil
	}
	var out []string
	for _, row := range got {
		part := strings.Fields(row)
		for _, name := range s.names {
			if s.ids[name] == part[0] {
				s.leases[name] = []any{part[0], part[1], part[2]}
				s.leases[name+"@"+worker] = s.leases[name]
				out = append(out, fmt.Sprintf("%s gets %s, attempt %s", worker, name, part[1]))
			}
		}
	}
	return out, nil
}

// lease is a report on the last lease of a task, live or not.
func lease(sql string) func(*story, command) ([]string, error) {
	return func(s *story, c command) ([]string, error) {
		return s.call(sql, append(s.held(c), s.now)...)
	}
}

// held is the last lease of the task that a command names.
func (s *story) held(c command) []any {
	l, ok := s.leases[c.word(0)]
	if !ok {
		s.t.Fatalf("%s %s: nobody has claimed it", c.verb, c.word(0))
	}
	return append([]any{}, l...)
}

// giveBack hands a lease back, because the worker stops or because its node is broken.
func giveBack(s *story, c command) ([]string, error) {
	return s.call(`select refusal
		from weir.give_back_many(array[$1::uuid], array[$2::int], array[$3::uuid], note => $4, fault => $5, at => $6)`,
		append(s.held(c), nullable(c.word(1)), field(c, "fault"), s.now)...)
}

func renew(s *story, c command) ([]string, error) {
	held := s.held(c)
	return s.call(`select coalesce((select r.refusal
		from weir.renew($1, array[$2::uuid], array[$3::int], array[$4::uuid], coalesce($5, '30 s')::interval, $6) r), 'ok')`,
		c.fields["worker"], held[0], held[1], held[2], field(c, "lease"), s.now)
}

// broken reports what is broken on a node, or with no fault that nothing is any more.
func broken(s *story, c command) ([]string, error) {
	faults := []any{}
	if f := field(c, "fault"); f != nil {
		faults = append(faults, map[string]any{"service": "work", "fault": *f, "message": c.word(1)})
	}
	_, err := s.query(`select weir.report_faults($1, $2, at => $3)::text`, c.word(0), encode(faults), s.now)
	return nil, err
}

func nullable(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

func fail(s *story, c command) ([]string, error) {
	var retry *time.Time
	if after, ok := c.fields["retry"]; ok {
		t := s.now.Add(duration(after))
		retry = &t
	}
	return s.call(`select weir.fail($1, $2, $3, $4, $5, $6, at => $7)`, append(s.held(c), c.word(1), c.word(2) == "final", retry, s.now)...)
}

func snooze(s *story, c command) ([]string, error) {
	return s.call(`select refusal from weir.give_back_many(array[$1::uuid], array[$2::int], array[$3::uuid], $4, at => $5)`, append(s.held(c), s.now.Add(duration(c.word(1))), s.now)...)
}

func cancel(s *story, c command) ([]string, error) {
	if c.word(0) == "job" {
		return s.query(`select format('%s canceled, %s asked to stop', canceled, requested) from weir.cancel_job($1, coalesce($2, 'ann'), at => $3)`, s.ids[c.word(1)], field(c, "by"), s.now)
	}
	_, err := s.query(`select weir.cancel($1, coalesce($2, 'ann'), at => $3)`, s.ids[c.word(0)], field(c, "by"), s.now)
	return nil, err
}

func pool(s *story, c command) ([]string, error) {
	if c.word(1) == "drop" {
		return s.call(`select weir.drop_pool($1, $2, at => $3)::text`, c.word(0), c.word(2) == "force", s.now)
	}
	return s.call(`select weir.set_pool($1, $2, $3, $4, at => $5)::text`, c.word(0), field(c, "size"), field(c, "rate"), field(c, "per"), s.now)
}

func node(s *story, c command) ([]string, error) {
	if mode := field(c, "mode"); mode != nil {
		return s.call(`select weir.set_node_mode($1, $2, at => $3)::text`, c.word(0), mode, s.now)
	}
	_, err := s.query(`select weir.register_node($1, $2, $3, at => $4)::text`, c.word(0), encode(pairs(c.fields["labels"])), encode(pairs(c.fields["capacity"])), s.now)
	return nil, err
}

func worker(s *story, c command) ([]string, error) {
	_, err := s.query(`select weir.register_worker($1, $2, $3, at => $4)::text`, c.word(0), strings.Split(c.fields["services"], ","), field(c, "node"), s.now)
	return nil, err
}

func tick(s *story, c command) ([]string, error) {
	s.now = s.now.Add(duration(c.word(0)))
	_, err := s.query(`select (weir.tend(true, $1)).opened::text`, s.now)
	return nil, err
}

func show(s *story, _ command) ([]string, error) {
	var out []string
	for _, name := range s.names {
		out = append(out, name+": "+s.states[name])
	}
	return out, nil
}

func why(s *story, c command) ([]string, error) {
	if c.word(0) == "job" {
		return s.query(`select format('%s %s: %s', gate, case when open then 'open' else 'closed' end, reason) from weir.why_job($1, $2)`, s.ids[c.word(1)], s.now)
	}
	return s.query(`select format('%s %s: %s%s%s', w.gate, case when w.open then 'open' else 'closed' end, w.reason, ', blocked by ' || w.blocker,
		case when not w.open then ', since ' || extract(epoch from w.since - $3)::int || ' s' end) from weir.why($1, $2) with ordinality w where not w.open or w.gate in ('lease', 'ended') order by w.ordinality`,
		s.ids[c.word(0)], s.now, s.begin)
}

func events(s *story, c command) ([]string, error) {
	return s.query(`select format('%s s: %s%s%s', extract(epoch from at - $2)::int, type, ' #' || nullif(attempt, 0), ' – ' || message) from weir.task_events($1)`, s.ids[c.word(0)], s.begin)
}
