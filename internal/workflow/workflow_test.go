package workflow

import (
	"testing"
)

func TestAChainOfStepsRuns(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put(`
name: media
params: {source: {type: string, default: s3://in}}
steps:
  - {key: ingest, service: s, params: {source: "{{ .params.source }}"}}
  - {key: audio, service: s, needs: [ingest], params: {lufs: -16}}
  - {key: render, service: t, needs: [audio], params: {file: "{{ .needs.ingest.result.file }}"}}
`)
	r.does["ingest"] = gives(map[string]any{"file": "a.wav"})
	r.does["render"] = echoes
	job := r.run("media", nil)
	if r.count(`select count(*) from weir.task where job = $1 and state = 'available'`, job) != 1 {
		t.Error("the first step does not wait for anybody, yet it is not available")
	}
	r.ends(job, "done", "ingest done, audio done, render done")
	if got := r.result(job, "render"); got != `{"file": "a.wav"}` {
		t.Errorf("render got %s", got)
	}
}
