package pagetest_test

import (
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/testwait"
	"github.com/weirhq/weir/internal/web/webtest"
)

// A version and a workflow are deleted after a question; what is in use is kept.
func TestDropWorkflow(t *testing.T) {
	s := webtest.Start(t)
	s.Put(t, chain)
	s.Put(t, strings.Replace(chain, "steps:", "description: second\nsteps:", 1))
	viewer, c := s.Login(t, "vic", auth.Viewer), s.Login(t, "mia", auth.Maintainer)
	const versions = "/workflows/chain/versions"
	viewer.Get(t, versions).Is(t, 200).Lacks(t, "/delete")
	viewer.Post(t, "/workflows/chain/delete", form()).Is(t, 403)
	c.Get(t, versions).Is(t, 200).Has(t, "Delete this workflow", "/workflows/chain/delete")
	c.Get(t, "/workflows/chain/delete?version=2").Is(t, 200).Has(t, "Delete version 2 of chain?")
	c.Post(t, "/workflows/chain/delete?version=2", form()).Is(t, 409).Has(t, "Deactivate it first")
	c.Post(t, "/workflows/chain/deactivate?version=1", form()).Is(t, 303)
	c.Post(t, "/workflows/chain/delete?version=1", form()).Is(t, 303)
	job := run(t, s, "chain", nil)
	c.Get(t, "/workflows/chain/delete").Is(t, 200).Has(t, "Delete the workflow chain?")
	c.Post(t, "/workflows/chain/delete", form()).Is(t, 409)
	s.Exec(t, `select weir.cancel_job('`+job.String()+`')`)
	c.Get(t, c.Post(t, "/workflows/chain/delete", form()).Is(t, 303).To()).Is(t, 200).Has(t, "Workflow chain is deleted, with 1 version.")
	c.Get(t, "/workflows/chain").Is(t, 404)
	c.Get(t, "/jobs/"+job.String()).Is(t, 200).Has(t, "chain")
}

// A schedule's workflow is run now, with its params; a node that is gone is removed.
func TestRunNow(t *testing.T) {
	s := webtest.Start(t)
	s.Put(t, media)
	const nightly = "/schedules/workflow%2Fmedia%2Fnightly"
	viewer, c := s.Login(t, "vic", auth.Viewer), s.Login(t, "mia", auth.Maintainer)
	viewer.Get(t, nightly).Is(t, 200).Lacks(t, "Run now")
	viewer.Post(t, nightly+"/run", form()).Is(t, 403)
	c.Get(t, nightly).Is(t, 200).Has(t, "Run now")
	c.Get(t, nightly+"/run").Is(t, 200).Has(t, "Run media now?")
	job := c.Post(t, nightly+"/run", form()).Is(t, 303).To()
	c.Get(t, job+"/params").Is(t, 200).Has(t, "s3://raw/today")
	s.Exec(t, `select weir.set_schedule('plain', '@daily', '{"service": "x"}', now() + interval '1 day')`)
	c.Get(t, "/schedules/plain").Is(t, 200).Lacks(t, "Run now")
	c.Get(t, "/schedules/plain/run").Is(t, 409)
	c.Get(t, "/schedules/plain/fleet").Is(t, 409)

	s.Exec(t, `select weir.register_node('pc-9')`)
	s.Exec(t, `update weir.nodes set seen_at = now() - interval '1 hour' where name = 'pc-9'`)
	viewer.Post(t, "/nodes/pc-9/delete", form()).Is(t, 403)
	c.Get(t, "/nodes/pc-9").Is(t, 200).Has(t, "/nodes/pc-9/delete")
	c.Get(t, "/nodes/pc-9/delete").Is(t, 200).Has(t, "Remove pc-9?")
	c.Post(t, "/nodes/pc-9/delete", form()).Is(t, 303)
	c.Get(t, "/nodes/pc-9").Is(t, 404)
}

// A schedule's fleet job is submitted now by a person who may, under the name of the schedule.
func TestRunFleetNow(t *testing.T) {
	s := webtest.Start(t)
	s.Exec(t, `select weir.set_schedule('smoke', '@daily', '{"service": "fleet", "params": {"run": {"argv": ["true"]}, "target": {"all": true}}}', now() + interval '1 day')`)
	operator, c := s.Login(t, "otto", auth.Operator), s.Login(t, "mia", auth.Maintainer)
	operator.Get(t, "/schedules/smoke").Is(t, 200).Lacks(t, "Run now")
	operator.Post(t, "/schedules/smoke/fleet", form()).Is(t, 403)
	c.Get(t, "/schedules/smoke").Is(t, 200).Has(t, "Run now")
	c.Get(t, "/schedules/smoke/fleet").Is(t, 200).Has(t, "Run smoke now?")
	job := c.Post(t, "/schedules/smoke/fleet", form()).Is(t, 303).To()
	c.Get(t, job).Is(t, 200).Has(t, "smoke")
	if n := s.One(t, `select count(*)::text from weir.fleet_job where name = 'smoke'`); n != "1" {
		t.Errorf("%s jobs were submitted", n)
	}
	c.Get(t, "/schedules/smoke/run").Is(t, 409)
}

// The job of a step that is a workflow is shown beside the step, with how far it is.
func TestStepJobs(t *testing.T) {
	s := webtest.Start(t)
	s.Lead(t)
	s.Put(t, "name: inner\nsteps: [{key: one, service: x}, {key: two, service: x}]\n")
	s.Put(t, "name: outer\nsteps: [{key: sub, workflow: inner}, {key: after, service: x, needs: [sub]}]\n")
	c := s.Login(t, "vic", auth.Viewer)
	job := run(t, s, "outer", nil)
	testwait.Until(t, "the step has a job", func() bool { return s.One(t, `select count(*)::text from weir.task where key = 'one'`) != "0" })
	child := s.One(t, `select id::text from weir.jobs where name = 'inner'`)
	c.Get(t, "/jobs/"+job.String()).Is(t, 200).Has(t, "Jobs of its steps", "/jobs/"+child, "0/2")
	c.Get(t, "/jobs/"+job.String()+"/gantt").Is(t, 200)
	c.Get(t, "/jobs?of="+job.String()).Is(t, 200).Has(t, child, "For steps of").Lacks(t, `data-href="/jobs/`+job.String())
	c.Get(t, "/jobs?of=none").Is(t, 422)
	c.Get(t, "/jobs/"+child).Is(t, 200).Lacks(t, "Jobs of its steps")
}
