package trace

import (
	"regexp"
	"strings"

	"github.com/exaring/otelpgx"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Database makes a pool trace its statements, without their arguments, below the spans of
// their callers. It fits pg.Options.Configure. If tracing is off, it changes nothing.
func (t *Tracing) Database(config *pgxpool.Config) {
	if t.sdk == nil {
		return
	}
	config.ConnConfig.Tracer = otelpgx.NewTracer(otelpgx.WithTracerProvider(t.provider), otelpgx.WithSpanNameFunc(statement))
}

// ours matches the first object of Weir that a statement names.
var ours = regexp.MustCompile(`\bweir\.\w+`)

// statement names a statement by the function it calls, or else by its first word.
func statement(sql string) string {
	if name := ours.FindString(sql); name != "" {
		return name
	}
	word, _, _ := strings.Cut(strings.TrimSpace(sql), " ")
	return strings.ToLower(word)
}
