package program

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"

	"github.com/weirhq/weir/internal/workspace/home"
)

// Streams are what the program is connected to.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// Run does what the arguments say, until ctx ends.
func Run(ctx context.Context, args []string, s Streams) error {
	if len(args) == 0 {
		return errors.New("say what to do: serve, pack, unpack, relay, install or shell")
	}
	verb, rest := args[0], args[1:]
	switch verb {
	case "serve":
		return serve(ctx, rest, s)
	case "pack":
		return tell(s.Err, func(limits home.Limits, folder string) (home.Meta, error) {
			return home.Seal(s.Out, func(to io.Writer) (home.Summary, error) { return home.Pack(ctx, folder, to, limits) })
		}, rest)
	case "unpack":
		return tell(s.Err, func(limits home.Limits, folder string) (home.Meta, error) {
			sum, err := home.Unpack(ctx, s.In, folder, limits)
			return home.Meta{Format: home.Format, Summary: sum}, err
		}, rest)
	case "relay":
		return relayed(rest, s)
	case "install":
		return install(rest)
	case "shell":
		return shelled(ctx, s)
	}
	return fmt.Errorf("there is no %q: serve, pack, unpack, relay, install and shell are all", verb)
}

// Told is the last line that packing and unpacking write.
type Told struct {
	Meta *home.Meta `json:"meta,omitempty"`
	// Error is why there is no meta. Refused: the archive is to blame.
	Error   string `json:"error,omitempty"`
	Refused bool   `json:"refused,omitempty"`
}

// tell does it and writes what came of it.
func tell(to io.Writer, do func(home.Limits, string) (home.Meta, error), args []string) error {
	var limits home.Limits
	flags := flag.NewFlagSet("home", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.Int64Var(&limits.Entries, "entries", 0, "")
	flags.Int64Var(&limits.Bytes, "bytes", 0, "")
	flags.Int64Var(&limits.Ratio, "ratio", 0, "")
	err := flags.Parse(args)
	if err == nil && flags.NArg() != 1 {
		err = errors.New("name one folder")
	}
	var told Told
	if err == nil {
		var meta home.Meta
		if meta, err = do(limits, flags.Arg(0)); err == nil {
			told.Meta = &meta
		}
	}
	if err != nil {
		told.Error, told.Refused = err.Error(), errors.Is(err, home.ErrRefused)
	}
	text, failed := json.Marshal(told)
	if failed == nil {
		_, failed = fmt.Fprintf(to, "%s\n", text)
	}
	return errors.Join(err, failed)
}
