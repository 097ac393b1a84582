package pagetest_test

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/blob/joblog"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/web/webtest"
	"github.com/weirhq/weir/internal/workflow"
	"github.com/weirhq/weir/internal/workflow/definition"
)

// desk speaks for a node in tests: it takes tasks, prints, leaves artifacts and
// ends them, as an agent does.
type desk struct {
	*node.Desk
	t testing.TB
	s *webtest.Server
	// seq are how many chunks of its log a task has.
	seq map[weir.ID]int
}

func newDesk(t testing.TB, s *webtest.Server, name string) *desk {
	t.Helper()
	d := &desk{node.NewDesk(s.DB.Pool, name, node.Options{Bucket: s.Bucket}), t, s, map[weir.ID]int{}}
	if err := d.Register(t.Context(), node.Info{Name: name, Version: "1.2.3", Drivers: []string{"exec", "docker"}, Capacity: map[string]int{"exec": 4}}); err != nil {
		t.Fatal(err)
	}
	return d
}

// take claims one task of the driver exec.
func (d *desk) take() node.Assignment {
	d.t.Helper()
	claimed, err := d.Claim(d.t.Context(), node.ClaimRequest{
		ID: d.s.One(d.t, `select gen_random_uuid()::text`), Services: []string{"exec"}, Slots: []int{4}, N: 1, Lease: 10 * time.Minute, Wait: time.Minute,
	})
	if err != nil || len(claimed.Tasks) != 1 {
		d.t.Fatalf("claim: %+v, %v", claimed, err)
	}
	if _, err := d.Start(d.t.Context(), []node.Lease{claimed.Tasks[0].Holds()}, 0); err != nil {
		d.t.Fatal(err)
	}
	return claimed.Tasks[0]
}

// print adds lines to the log of a task.
func (d *desk) print(a node.Assignment, stream string, lines ...string) {
	d.t.Helper()
	now := time.Now().UTC()
	var chunk []byte
	for _, text := range lines {
		chunk = joblog.Append(chunk, joblog.Line{At: now, Stream: stream, Text: text})
	}
	if err := d.AppendLog(d.t.Context(), a.Holds(), node.LogChunk{Seq: d.seq[a.Task], Lines: chunk, From: now, To: now}); err != nil {
		d.t.Fatal(err)
	}
	d.seq[a.Task]++
}

// leave makes an artifact of a task.
func (d *desk) leave(a node.Assignment, name, kind string, data []byte) {
	d.t.Helper()
	meta := node.ArtifactMeta{Kind: node.OutputArtifact, Name: name, Size: int64(len(data)), ContentType: kind}
	if err := d.Upload(d.t.Context(), a.Holds(), meta, bytes.NewReader(data)); err != nil {
		d.t.Fatal(err)
	}
}

func (d *desk) end(a node.Assignment, verdict, text string) {
	d.t.Helper()
	o := node.Outcome{Lease: a.Holds(), Verdict: verdict, Final: true}
	if verdict == node.Done {
		o.Result = []byte(text)
	} else {
		o.Error = text
	}
	if refused, err := d.End(d.t.Context(), []node.Outcome{o}); err != nil || len(refused) > 0 {
		d.t.Fatalf("end: %v, %v", refused, err)
	}
}

// run makes a job of a workflow.
func run(t testing.TB, s *webtest.Server, name string, params map[string]any) weir.ID {
	t.Helper()
	id, err := s.Flows.Run(t.Context(), workflow.RunRequest{Workflow: name, Options: definition.Options{Params: params}, By: "test"})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// pixels is a small picture.
func pixels(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 40, 30))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// chain is a workflow of three steps that an agent runs.
const chain = `name: chain
steps:
  - key: first
    run: [echo, one]
    secrets: {TOKEN: deploy_token}
  - key: second
    needs: [first]
    run: [echo, two]
  - key: third
    needs: [second]
    approval: the editor on duty
    run: [echo, three]
`

// manyLines are n lines of a log.
func manyLines(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("line number %d of many", i+1)
	}
	return out
}
