package cli

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/op"
)

// typed is an input that makes something else of what a person typed.
type typed interface{ Typed() }

// operation is the command of an operation: the path of its route gives the arguments,
// and the body the flags. A truth that must be said has a flag for either answer.
func operation[S, In, Out any](e *env, o *op.Op[S, In, Out], c *cobra.Command, tell func(ctx context.Context, s *app.Session, in *In, out Out) error) *cobra.Command {
	in := new(In)
	fields := op.Fields(in)
	var args []op.Field
	var names []string
	values := map[string]*string{}
	for _, f := range fields {
		switch {
		case f.Place == op.Path && f.Flag != f.Name:
			args, names = append(args, f), append(names, f.Flag)
		case f.Place == op.Path:
		case f.Type.Kind() == reflect.Bool && f.Required:
			yes, no, _ := strings.Cut(f.Doc, "; ")
			c.Flags().Bool(f.Flag, false, flagWords(strings.TrimPrefix(yes, "true: ")))
			c.Flags().Bool("not-"+f.Flag, false, flagWords(strings.TrimPrefix(no, "false: ")))
		default:
			values[f.Name] = c.Flags().String(f.Flag, "", flagWords(f.Doc))
		}
	}
	c.Use = strings.Join(append([]string{o.Verb}, names...), " ")
	if c.Short == "" {
		c.Short = o.Summary
	}
	c.Args = e.args(names...)
	c.RunE = e.session(func(ctx context.Context, s *app.Session, given []string) error {
		for i, f := range args {
			f.Set(in, given[i])
		}
		if t, ok := any(in).(typed); ok {
			t.Typed()
		}
		for _, f := range fields {
			if err := fill(c, in, f, values[f.Name]); err != nil {
				return err
			}
		}
		out, err := o.Call(ctx, s.Operations, in)
		if err != nil {
			return err
		}
		return tell(ctx, s, in, out)
	})
	return c
}

// fill sets a field of the body by its flags.
func fill(c *cobra.Command, in any, f op.Field, text *string) error {
	switch {
	case f.Place == op.Path:
		return nil
	case text == nil:
		yes, _ := c.Flags().GetBool(f.Flag)
		no, _ := c.Flags().GetBool("not-" + f.Flag)
		if yes == no {
			return invalid(fmt.Sprintf("give --%s or --not-%s", f.Flag, f.Flag), "neither or both are given")
		}
		f.Set(in, yes)
		return nil
	case *text == "" && f.Required:
		return invalid("give --"+f.Flag+" TEXT: "+flagWords(f.Doc), "--%s is missing", f.Flag)
	case *text == "":
		return nil
	}
	if err := f.Parse(in, *text); err != nil {
		return invalid("", "--%s: %s", f.Flag, err)
	}
	return nil
}

// flagWords are the words of a field as the help of a flag has them.
func flagWords(doc string) string {
	first, size := utf8.DecodeRuneInString(doc)
	return string(unicode.ToLower(first)) + strings.TrimSuffix(doc[size:], ".")
}
