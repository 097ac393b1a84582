package command

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/op"
)

// Names reads what can stand in a place: a word and what it is.
type Names func(ctx context.Context, s *app.Session) ([][2]string, error)

// Complete offers names for the first argument, or the value of a flag.
func (e *Env) Complete(read Names) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		const files = cobra.ShellCompDirectiveNoFileComp
		ctx := cmd.Context()
		if ctx == nil {
			ctx = context.Background()
		}
		ctx, cancel := context.WithTimeout(ctx, completeWithin)
		defer cancel()
		target, err := e.Target(cmd)
		if err != nil {
			return nil, files
		}
		s, err := app.Connect(ctx, target, e.Who())
		if err != nil {
			return nil, files
		}
		defer s.Close()
		found, err := read(ctx, s)
		if err != nil {
			return nil, files
		}
		var words []cobra.Completion
		for _, pair := range found {
			if word := Clean(pair[0]); strings.HasPrefix(word, begun) && len(words) < completeMost {
				words = append(words, cobra.CompletionWithDesc(word, Clean(pair[1])))
			}
		}
		return words, files | cobra.ShellCompDirectiveKeepOrder
	}
}

// First offers names for the first argument alone.
func (e *Env) First(read Names) cobra.CompletionFunc {
	offer := e.Complete(read)
	return func(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return offer(cmd, args, begun)
	}
}

// OrFile offers names for the first argument, and files of definitions.
func (e *Env) OrFile(read Names) cobra.CompletionFunc {
	offer := e.First(read)
	return func(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		words, _ := offer(cmd, args, begun)
		if len(words) > 0 || len(args) > 0 {
			return words, cobra.ShellCompDirectiveNoFileComp
		}
		return DefinitionFiles(cmd, args, begun)
	}
}

// DefinitionFiles lets the shell offer files that a workflow may be in.
func DefinitionFiles(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return []cobra.Completion{"yaml", "yml", "json"}, cobra.ShellCompDirectiveFilterFileExt
}

// Listed are the names of a list: of each row the word, and what it is.
func Listed[S, In, Row any](o *op.Op[S, In, op.Page[Row]], of func(Row) (word, about string)) Names {
	return func(ctx context.Context, s *app.Session) (words [][2]string, err error) {
		var page op.Page[Row]
		var in In
		if bounds := op.PagedOf(&in); bounds != nil {
			bounds.Limit = completeMost
			page.Items, err = op.Full(ctx, s.Operations, o, in)
		} else {
			page, err = o.Call(ctx, s.Operations, &in)
		}
		for _, row := range page.Items {
			word, about := of(row)
			words = append(words, [2]string{word, about})
		}
		return words, err
	}
}

const (
	// completeWithin is how long a person waits for a Tab, whatever is asked.
	completeWithin = time.Second
	// completeMost is how many names are offered.
	completeMost = 200
)
