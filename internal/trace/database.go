package trace

import (
	"regexp"
	"strings"

	"github.com/exaring/otelpgx"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Database makes a pool trace its statements, without their arguments, below
// the spans of whoever asks. It fits pg.Options.Configure. Off, it changes
// nothing.
func (t *Tracing) Database(config *pgxpool.Config) {
	if t.sdk == nil {
		return
	}
	config.ConnConfig.Tracer = otelpgx.NewTracer(otelpgx.WithTracerProvider(t.provider), otelpgx.WithSpanNameFunc(statement))
}

// ours is the first thing of ours that a statement names.
var ours = regexp.MustCompile(`\bweir\.\w+`)

// statement names a statement: by the function it calls, else by its first word.
func statement(sql string) string {
	if name := ours.FindString(sql); name != "" {
		return name
	}
	word, _, _ := strings.Cut(strings.TrimSpace(sql), " ")
	return strings.ToLower(word)
}
