package fleet

import (
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/blob"
	"github.com/weirhq/weir/internal/coordinator"
)

// file uploads an artifact of a lease, as an agent does.
func (r *rig) file(b blob.Bucket, l lease, name, text string) {
	r.Helper()
	key := "outputs/" + l.Task.String() + "/" + name
	if _, err := b.Put(r.Context(), key, strings.NewReader(text), int64(len(text)), "text/xml"); err != nil {
		r.Fatal(err)
	}
	var said string
	r.scan(&said, `select weir.record_artifact($1, $2, $3, 'output', $4, $5, $6, $7)`, l.Task, l.Attempt, l.Token, name, b.Name(), key, len(text))
	r.want("recorded", said, "ok")
}

// The results and JUnit files of all devices are one table; a file that cannot be read is
// named there and keeps no other from being read.
func TestResults(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	bucket, err := blob.Open(t.Context(), "folder://"+t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r.report("PC-01", named("d", 3)...)
	id := r.submit("nightly", func(s *Spec) { s.Attempts = 2; s.Backoff = nil })
	const suite = `<testsuite><testcase name="opens"/>`
	const red = suite + `<testcase classname="cam" name="closes"><failure message="stays open"/></testcase></testsuite>`
	leases := map[string]lease{}
	for _, l := range r.claim("PC-01", 3) {
		leases[l.Serial] = l
	}
	// The first device fails once, and its second attempt counts.
	r.file(bucket, leases["d01"], "junit.xml", red)
	r.fail(leases["d01"])
	r.file(bucket, leases["d02"], "logs/junit-a.xml", red)
	r.file(bucket, leases["d02"], "TEST-b.xml", suite+`<testcase name="later"><skipped/></testcase></testsuite>`)
	r.file(bucket, leases["d02"], "other.xml", red)
	r.exec(`select weir.finish($1, $2, $3, '{"fps": 60}', at => $4)`, leases["d02"].Task, leases["d02"].Attempt, leases["d02"].Token, r.now)
	r.file(bucket, leases["d03"], "junit.xml", `<!DOCTYPE x [<!ENTITY a "b">]>`+red)
	r.done(leases["d03"])
	r.wait(20 * time.Second)
	again := r.claim("PC-01", 1)[0]
	r.file(bucket, again, "junit.xml", suite+`</testsuite>`)
	r.done(again)

	l := &leader{pool: r.db.Pool, bucket: bucket, term: new(coordinator.Term)}
	r.want("due", r.count(`select count(*) from weir.test_reports where due is not null`), 5)
	if _, err := l.reports(t.Context(), r.now); err != nil {
		t.Fatal(err)
	}
	r.want("read", r.count(`select count(*) from weir.test_reports where due is not null`), 0)
	list, err := r.store.Results(t.Context(), id, UnitFilter{}, page(10))
	if err != nil || len(list) != 3 {
		t.Fatalf("%+v %v", list, err)
	}
	if u := list[0]; u.Device != "d01" || u.Attempt != 2 || u.Tests.Report.Tests != 1 || u.Tests.Failures != 0 {
		t.Errorf("%+v %+v", u, u.Tests)
	}
	if u := list[1]; string(u.Result) != `{"fps": 60}` || u.Tests.Report.Tests != 4 || u.Tests.Failures != 1 || u.Tests.Skipped != 1 || u.Tests.Failed[0].Name != "closes" {
		t.Errorf("%+v %+v", u, u.Tests)
	}
	if u := list[2]; u.State != UnitDone || !strings.HasPrefix(u.Tests.Fault, "junit.xml: ") || !strings.Contains(u.Tests.Fault, "document type") || u.Tests.Report.Tests != 0 {
		t.Errorf("%+v %+v", u, u.Tests)
	}
	cases, err := r.store.Cases(t.Context(), id, 10)
	if err != nil || len(cases) != 1 || cases[0].Name != "closes" || cases[0].Devices != 1 || cases[0].On[0] != "d02" || cases[0].Message != "stays open" {
		t.Errorf("%+v %v", cases, err)
	}
	if list, err = r.store.Results(t.Context(), id, UnitFilter{Device: "d02"}, page(10)); err != nil || len(list) != 1 {
		t.Errorf("%+v %v", list, err)
	}
}

// A bucket that is away is tried again, five times; what was uploaded anew meanwhile is
// not taken for what was read.
func TestReportsAreReadAgain(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	bucket, err := blob.Open(t.Context(), "folder://"+t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r.report("PC-01", named("d", 1)...)
	r.submit("nightly", nil)
	run := r.claim("PC-01", 1)[0]
	r.file(bucket, run, "junit.xml", `<testsuite><testcase name="a"/></testsuite>`)
	if err := bucket.Delete(t.Context(), "outputs/"+run.Task.String()+"/junit.xml"); err != nil {
		t.Fatal(err)
	}
	l := &leader{pool: r.db.Pool, bucket: bucket, term: new(coordinator.Term)}
	for n := 1; n <= 5; n++ {
		r.want("due", r.count(`select count(*) from weir.test_reports where due is not null`), 1)
		r.exec(`update weir.test_reports set due = now() - interval '1 s'`)
		if _, err := l.reports(t.Context(), r.now); err != nil {
			t.Fatal(err)
		}
	}
	r.want("given up", r.count(`select count(*) from weir.test_reports where due is null and tries = 5 and fault <> ''`), 1)
	r.file(bucket, run, "junit.xml", `<testsuite><testcase name="a"/><testcase name="b"/></testsuite>`)
	r.want("due again", r.count(`select count(*) from weir.test_reports where due is not null and tries = 0`), 1)
	var late bool
	r.scan(&late, `select weir.test_report_read(artifact, now() - interval '1 day', '{"tests": 9}') from weir.test_reports`)
	r.want("what was read of the one before", late, false)
	if _, err := l.reports(t.Context(), r.now); err != nil {
		t.Fatal(err)
	}
	r.want("read", r.count(`select count(*) from weir.test_reports where due is null and tests = 2 and fault is null`), 1)
}
