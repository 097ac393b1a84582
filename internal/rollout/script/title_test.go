package script_test

import (
	"testing"

	"github.com/weirhq/weir/internal/rollout/script"
)

// A title tells a build that stops writers from one that does not.
func TestTitle(t *testing.T) {
	for sql, want := range map[string]string{
		"create unique index concurrently if not exists a_b on a (b)": "CREATE INDEX CONCURRENTLY",
		"drop index /* not */ concurrently a_b":                       "DROP INDEX CONCURRENTLY",
		"create index a_b on a (b) /* concurrently */":                "CREATE INDEX",
		"reindex index concurrently a_b":                              "REINDEX CONCURRENTLY",
		"vacuum a":                                                    "VACUUM",
	} {
		found, err := script.Split(script.Postgres, sql)
		if err != nil || len(found) != 1 || found[0].Title() != want {
			t.Errorf("%s: %v, %v, want %s", sql, found, err, want)
		}
	}
}
