package node

import (
	"encoding/json"
	"testing"
	"time"
)

// What the step says counts, then what the node does by default, except for calls.
func TestKeepOfARun(t *testing.T) {
	for text, want := range map[string]time.Duration{
		`{"argv": ["true"]}`:          time.Hour,
		`{"image": "a"}`:              time.Hour,
		`{"url": "http://127.0.0.1"}`: 0,
		`{"url": "http://127.0.0.1", "disconnect": {"keep": "5m"}}`: 5 * time.Minute,
		`{"argv": ["true"], "disconnect": {"keep": "0s"}}`:          0,
		`{"argv": ["true"], "disconnect": {"keep": "9000h"}}`:       KeepMost,
	} {
		run, err := ParseRun(json.RawMessage(text))
		if err != nil {
			t.Fatal(err)
		}
		if got := run.Keep(time.Hour); got != want {
			t.Errorf("%s goes on for %s, want %s", text, got, want)
		}
	}
}

// A service of the node's file runs as the file says, with what only the step knows.
func TestAServiceRunsForAStep(t *testing.T) {
	own := Run{Driver: "docker", Image: "render:2", Secrets: map[string]string{"A": "a"}, Timeout: Timeout{Start: Span(time.Minute)}}
	step := Run{
		Secrets: map[string]string{"B": "b"}, Inputs: []Input{{From: "ingest"}}, Disconnect: &Disconnect{Keep: Span(time.Hour)},
		Artifacts: []string{"*.mp4"}, RetryOn: []int{75},
	}
	got := own.For(step)
	if got.Image != "render:2" || len(got.Secrets) != 2 || len(got.Inputs) != 1 || got.Keep(0) != time.Hour ||
		len(got.Artifacts) != 1 || got.Timeout != own.Timeout || len(got.RetryOn) != 1 || len(own.Secrets) != 1 {
		t.Errorf("%+v", got)
	}
}
