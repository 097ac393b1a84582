package workcmd

import (
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/testdb"
	"github.com/weirhq/weir/internal/work"
)

// What a watched job shows beside tasks that wait is what weir.why says of them.
func TestExplainAJob(t *testing.T) {
	s, err := app.Connect(t.Context(), app.Target{Database: testdb.New(t).URL}, app.Who{Name: "test"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	made, err := work.SubmitJob.Call(t.Context(), s.Operations, &work.SubmittingJob{Body: work.JobSpec{Name: "waits", Tasks: []work.TaskSpec{
		{Key: "free", Service: "nobody-serves"}, {Key: "held", Service: "nobody-serves", Hold: "the editor"}, {Key: "next", Service: "nobody-serves", Needs: []string{"free"}},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	page, err := readJob(t.Context(), s, made.ID)
	if err != nil {
		t.Fatal(err)
	}
	if err := page.explain(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	for _, task := range page.Tasks {
		want := map[string]string{"free": "no live worker serves nobody-serves", "held": "the editor"}[task.Key]
		if got := page.why[task.ID]; !strings.Contains(got, want) || (got == "") != (want == "") {
			t.Errorf("%s: %q, want %q", task.Key, got, want)
		}
	}
}
