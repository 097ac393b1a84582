package workflow

import (
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/workflow/definition"
)

// TestZone checks that a job has the days of its schedule's place, also where clocks are
// set forward and back, however it was made.
func TestZone(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.does["a"] = echoes
	const step = `steps: [{key: a, service: s, params: {at: "{{ .job.scheduled_at }}", day: '{{ .job.scheduled_at | date "2006-01-02" }}', before: '{{ .job.scheduled_at | addDays -1 | date "2006-01-02" }}'}}]`
	r.put("name: w\n" + step + "\nschedules: [{name: nightly, spec: '30 0 * * *', zone: Europe/Budapest}]")
	r.put("name: z\nzone: Europe/Budapest\n" + step + "\nschedules: [{name: nightly, spec: '30 0 * * *'}, {name: utc, spec: '30 0 * * *', zone: UTC}]")
	backfill := func(schedule, from, to, want string) {
		t.Helper()
		out, err := r.store.Backfill(t.Context(), auth.System("ann"), &Backfilling{Body: BackfillBody{Schedule: schedule, From: from, To: to}})
		if err != nil || len(out.Jobs) != 1 {
			t.Fatalf("%s from %s to %s: %v, %v", schedule, from, to, out, err)
		}
		r.ends(out.Jobs[0], "done", "a done")
		if got := r.result(out.Jobs[0], "a"); got != want {
			t.Errorf("%s from %s to %s:\n got %s\nwant %s", schedule, from, to, got, want)
		}
	}
	backfill("workflow/w/nightly", "2026-07-10", "2026-07-11", `{"at": "2026-07-10T00:30:00+02:00", "day": "2026-07-10", "before": "2026-07-09"}`)
	backfill("workflow/z/nightly", "2026-07-10", "2026-07-11", `{"at": "2026-07-10T00:30:00+02:00", "day": "2026-07-10", "before": "2026-07-09"}`)
	backfill("workflow/z/utc", "2026-07-10", "2026-07-11", `{"at": "2026-07-10T00:30:00Z", "day": "2026-07-10", "before": "2026-07-09"}`)
	backfill("workflow/w/nightly", "2026-03-29", "2026-03-30", `{"at": "2026-03-29T00:30:00+01:00", "day": "2026-03-29", "before": "2026-03-28"}`)
	backfill("workflow/w/nightly", "2025-10-27", "2025-10-28", `{"at": "2025-10-27T00:30:00+01:00", "day": "2025-10-27", "before": "2025-10-26"}`)

	// What the schedule itself makes, and a rerun of it after the schedule is gone.
	r.exec(`select weir._fire_workflow(s, array['2026-07-09 22:30Z'::timestamptz + interval '7 days'], now()) from weir.schedules s where s.name = 'workflow/w/nightly'`)
	const fired = `{"at": "2026-07-17T00:30:00+02:00", "day": "2026-07-17", "before": "2026-07-16"}`
	r.until("it ends", func() bool { return r.count(`select count(*) from weir.job_live`) == 0 })
	job := r.text(`select job::text from weir.task where result->>'day' = '2026-07-17'`)
	id := r.task(mustID(t, job), "a")
	if got := r.text(`select result::text from weir.task where id = $1`, id); got != fired {
		t.Errorf("fired: %s", got)
	}
	r.exec(`select weir.drop_schedule('workflow/w/nightly')`)
	again, _, err := r.store.Rerun(t.Context(), mustID(t, job), RerunRequest{})
	if err != nil {
		t.Fatal(err)
	}
	r.ends(again, "done", "a done")
	if got := r.result(again, "a"); got != fired {
		t.Errorf("again: %s", got)
	}

	// By hand: the zone that was asked for, the workflow's, or UTC.
	for _, by := range []struct{ workflow, zone, offset string }{{"w", "", "Z"}, {"w", "Asia/Tokyo", "+09:00"}, {"z", "Asia/Tokyo", "+09:00"}} {
		job, err := r.store.Run(t.Context(), RunRequest{Workflow: by.workflow, Zone: by.zone, Options: definition.Options{}})
		if err != nil {
			t.Fatal(err)
		}
		r.ends(job, "done", "a done")
		at := r.text(`select result->>'at' from weir.task where job = $1`, job)
		if _, err := time.Parse(time.RFC3339, at); err != nil || at[19:] != by.offset {
			t.Errorf("%v: %s", by, at)
		}
	}
	if _, err := r.store.Run(t.Context(), RunRequest{Workflow: "w", Zone: "Budapest"}); err == nil {
		t.Error("a zone that does not exist is taken")
	}
	if _, err := r.store.Backfill(t.Context(), auth.System("ann"), &Backfilling{Body: BackfillBody{Schedule: "workflow/z/utc", From: "yesterday"}}); err == nil {
		t.Error("a day that is none is taken")
	}
}

func mustID(t *testing.T, text string) weir.ID {
	t.Helper()
	id, err := weir.ParseID(text)
	if err != nil {
		t.Fatal(err)
	}
	return id
}
