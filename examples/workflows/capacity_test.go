package workflows_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// span is one attempt as the timeline tells it.
type span struct {
	task, service, node string
	order               int64
	claim, begun, end   time.Time
	claimXID, begunXID  int64 // the transactions that wrote them
}

// TestCapacityAndOrder gives many jobs to two nodes with renderer=2 and audio=4,
// and reads from the timeline that no node ever ran more, and that every service
// followed the order of the jobs.
func TestCapacityAndOrder(t *testing.T) {
	t.Parallel()
	const jobs = 100
	w := newWorld(t)
	file := w.write("capacity.yaml", "name: capacity\nsteps:\n  - {key: sound, service: audio}\n  - {key: picture, service: renderer}\n", 0o600)
	w.weir("workflow", "apply", file)
	if _, err := w.db.Pool.Exec(t.Context(), `insert into flow.jobs (workflow_id) select w.id from flow.workflows w, generate_series(1, $1) where w.name = 'capacity'`, jobs); err != nil {
		t.Fatal(err)
	}
	w.eventually("all jobs to be built", `select count(*) = $1 from flow.jobs where status = 'running'`, jobs)
	services := w.write("services.yaml", "renderer: {slots: 2, run: [sleep, '0.05']}\naudio: {slots: 4, run: [sleep, '0.05']}\n", 0o600)
	w.agent("one", "--services-file", services)
	w.agent("two", "--services-file", services)
	w.eventually("the end of all jobs", `select count(*) = $1 from weir.job where name = 'capacity' and state = 'done'`, jobs)

	spans := w.spans("capacity")
	if len(spans) != 2*jobs {
		t.Fatalf("the timeline has %d attempts of %d tasks", len(spans), 2*jobs)
	}
	capacity := map[string]int{"renderer": 2, "audio": 4}
	busiest := map[string]int{}
	for _, s := range spans {
		// What runs on a node is the most at the moment when a task is claimed.
		at := s.node + " " + s.service
		running := 0
		for _, other := range spans {
			if other.node+" "+other.service == at && !other.claim.After(s.claim) && other.end.After(s.claim) {
				running++
			}
		}
		busiest[at] = max(busiest[at], running)
		if running > capacity[s.service] {
			t.Errorf("node %s ran %d tasks of %s when it claimed %s, and may run %d", s.node, running, s.service, s.task, capacity[s.service])
		}
	}
	if len(busiest) != 4 {
		t.Errorf("not every node did of every service: %v", busiest)
	}
	if overtaken := overtaken(spans); len(overtaken) > 0 {
		t.Errorf("%d tasks were overtaken:\n%s", len(overtaken), strings.Join(overtaken, "\n"))
	}
}

// overtaken lists tasks that waited while one of a later job was taken. All could
// be claimed from the beginning. Two claims at one time may end in any order, and
// the later one starts its task while the earlier one still writes. So a task was
// overtaken only if its claim began when the later one had started, which the ids
// of transactions tell and times do not: a claim notes the time once it has its
// tasks. The xid of an event does not tell it either, because it is that of the
// newest transaction that had ended (docs/decisions/0020).
func overtaken(spans []span) (list []string) {
	for _, early := range spans {
		for _, late := range spans {
			if early.service == late.service && early.order < late.order && early.claimXID > late.begunXID {
				list = append(list, fmt.Sprintf("%s: job %d, claimed at %s, by job %d, started at %s",
					early.service, early.order, early.claim.Format(time.StampMicro), late.order, late.begun.Format(time.StampMicro)))
			}
		}
	}
	return list
}

// spans reads the attempts of all jobs of a workflow from the timeline.
func (w *world) spans(workflow string) []span {
	w.t.Helper()
	rows, err := w.db.Pool.Query(w.t.Context(), `
		select q.id::text, q.service, n.name, j.order_seq, c.at, coalesce(s.at, d.at), d.at,
			(select e.xmin::text::bigint from weir.events e where e.seq = c.seq), (select e.xmin::text::bigint from weir.events e where e.seq = coalesce(s.seq, d.seq))
		from weir.job j join weir.task q on q.job = j.id
		join weir.event c on c.task = q.id and c.type = 'claimed'
		join weir.event d on d.task = q.id and d.type = 'done' and d.attempt = c.attempt
		left join weir.event s on s.task = q.id and s.type = 'started' and s.attempt = c.attempt
		join weir.workers x on x.name = c.worker join weir.nodes n on n.id = x.node
		where j.name = $1 order by c.seq`, workflow)
	if err != nil {
		w.t.Fatal(err)
	}
	defer rows.Close()
	var spans []span
	for rows.Next() {
		var s span
		if err := rows.Scan(&s.task, &s.service, &s.node, &s.order, &s.claim, &s.begun, &s.end, &s.claimXID, &s.begunXID); err != nil {
			w.t.Fatal(err)
		}
		spans = append(spans, s)
	}
	if err := rows.Err(); err != nil {
		w.t.Fatal(err)
	}
	return spans
}
