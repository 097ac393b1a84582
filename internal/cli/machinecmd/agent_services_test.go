package machinecmd

import (
	"reflect"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/node"
)

func TestServicesOfAFile(t *testing.T) {
	got, err := readServices("-", strings.NewReader(`
renderer: {slots: 2, run: {image: "registry.example/render:2", argv: [render], cpu: 1.5}, secrets: {TOKEN: render_token}}
audio: {slots: 4, run: [ffmpeg-task]}
mail: {}
calls: {run: {url: "http://localhost:8080/", method: POST}}
`))
	if err != nil {
		t.Fatal(err)
	}
	if want := map[string]int{"renderer": 2, "audio": 4, "mail": 1, "calls": 1}; !reflect.DeepEqual(got.slots, want) {
		t.Errorf("slots are %v, want %v", got.slots, want)
	}
	want := map[string]node.Run{
		"renderer": {Driver: "docker", Image: "registry.example/render:2", Argv: []string{"render"}, CPU: 1.5, Secrets: map[string]string{"TOKEN": "render_token"}},
		"audio":    {Driver: "exec", Argv: []string{"ffmpeg-task"}},
		"calls":    {Driver: "http", URL: "http://localhost:8080/", Method: "POST"},
	}
	if !reflect.DeepEqual(got.runs, want) {
		t.Errorf("runs are %+v,\nwant %+v", got.runs, want)
	}
	for text, says := range map[string]string{
		"":                                   "names no service",
		"[a]":                                "",
		"a: {slots: 0}":                      "less than 1",
		"a: {slots: x}":                      "",
		"a: {run: {argw: [x]}}":              "argw",
		"a: {run: {}}":                       "",
		"a: {rum: [x]}":                      "expected slots and run",
		"a: {run: [x], needs: [b]}":          "",
		"a: {run: [echo, '{{ .needs.x }}']}": "",
	} {
		if got, err := readServices("-", strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
}
