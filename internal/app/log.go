package app

import (
	"io"
	"log/slog"

	"github.com/weirhq/weir/internal/trace"
)

// Logger makes the logger that the configuration asks for.
func (c Config) Logger(out io.Writer) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(c.LogLevel)) // validated; unknown is info
	options := &slog.HandlerOptions{Level: level}
	if c.LogFormat == "json" {
		return slog.New(trace.Log(slog.NewJSONHandler(out, options)))
	}
	return slog.New(trace.Log(slog.NewTextHandler(out, options)))
}
