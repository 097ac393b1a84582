package cli

import (
	"context"
	"encoding/json"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/weirhq/weir/internal/timeline"
)

// archive PARTITION archives the timeline of the script's database under this
// name, as a server does before it drops a partition.
func archive(ts *testscript.TestScript, _ bool, args []string) {
	ctx := context.Background()
	conn := connect(ts)
	defer conn.Close(ctx)
	rows, err := conn.Query(ctx, `select jsonb_strip_nulls(to_jsonb(e) || jsonb_build_object('worker', w.name)) from weir.events e left join weir.workers w on w.id = e.worker order by e.xid, e.seq`)
	ts.Check(err)
	defer rows.Close()
	lines := func(yield func(json.RawMessage, error) bool) {
		for rows.Next() {
			var line []byte
			if err := rows.Scan(&line); !yield(line, err) || err != nil {
				return
			}
		}
	}
	_, n, err := timeline.ArchiveAt(ts.Getenv("WEIR_EVENTS_EXPORT")).Export(ctx, args[0], lines)
	ts.Check(err)
	if n == 0 {
		ts.Fatalf("there was nothing to archive")
	}
}
