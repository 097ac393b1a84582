package scenarios

import "strings"

// specs are the tasks below a command.
func (s *story) specs(c command) []map[string]any {
	var specs []map[string]any
	for _, b := range c.below {
		specs = append(specs, s.spec(b, b.verb))
	}
	return specs
}

func queue(s *story, c command) ([]string, error) {
	due := s.now
	if after, ok := c.fields["due"]; ok {
		due = due.Add(duration(after))
	}
	ids, err := s.query(`select weir.open_job($1, due => $2, at => $3)::text`, c.word(0), due, s.now)
	if err == nil {
		s.ids[c.word(0)] = ids[0]
	}
	return nil, err
}

func add(s *story, c command) ([]string, error) {
	rows, err := s.query(`select key || ' ' || task from weir.add_tasks($1, $2, at => $3)`, s.ids[c.word(0)], encode(s.specs(c)), s.now)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		key, id, _ := strings.Cut(row, " ")
		if s.ids[key] == "" {
			s.names = append(s.names, key)
		}
		s.ids[key] = id
	}
	return s.sweep()
}

// planned says when a call changed nothing.
func (s *story) planned(sql string, args ...any) ([]string, error) {
	said, err := s.query(sql, args...)
	if err == nil && said[0] == "false" {
		return []string{"it does not wait for that"}, nil
	}
	return nil, err
}

func plan(s *story, c command) ([]string, error) {
	var runAt any
	if after, ok := c.fields["run_at"]; ok {
		runAt = s.now.Add(duration(after))
	}
	return s.planned(`select weir.plan_task($1, hold => $2, run_at => $3, at => $4)::text`, s.ids[c.word(0)], field(c, "hold"), runAt, s.now)
}

func split(s *story, c command) ([]string, error) {
	return s.planned(`select weir.wait_for($1, $2, at => $3)::text`, s.ids[c.word(0)], strings.Split(c.word(2), ","), s.now)
}

func decide(s *story, c command) ([]string, error) {
	outcome := strings.Replace(c.word(1), "passes", "skipped", 1)
	return s.planned(`select weir.decide($1, $2, cause => nullif($3, ''), passes => $4, at => $5)::text`, s.ids[c.word(0)], outcome, c.word(2), c.word(1) == "passes", s.now)
}
