package app

import (
	"io"
	"log/slog"

	"github.com/weirhq/weir/internal/trace"
)

// Logger makes the logger that the configuration asks for.
func (c Config) Logger(out io.Writer) *slog.Logger { return c.LoggerAt(out, c.Level()) }

// Level is the level of the log.
func (c Config) Level() (level slog.Level) {
	_ = level.UnmarshalText([]byte(c.LogLevel)) // validated; unknown is info
	return level
}

// LoggerAt is Logger with a level that can be changed.
func (c Config) LoggerAt(out io.Writer, level slog.Leveler) *slog.Logger {
	options := &slog.HandlerOptions{Level: level}
	if c.LogFormat == "json" {
		return slog.New(trace.Log(slog.NewJSONHandler(out, options)))
	}
	return slog.New(trace.Log(slog.NewTextHandler(out, options)))
}
