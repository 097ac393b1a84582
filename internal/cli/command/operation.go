package command

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/op"
)

// typed is an input that makes something else of what a person typed.
type typed interface{ Typed() }

// Operation is the command of an operation.
func Operation[S, In, Out any](e *Env, o *op.Op[S, In, Out], c *cobra.Command, tell func(ctx context.Context, s *app.Session, in *In, out Out) error) *cobra.Command {
	in := new(In)
	typed := e.Flagged(c, &o.Operation, in)
	c.RunE = e.Session(func(ctx context.Context, s *app.Session, given []string) error {
		if err := typed(given); err != nil {
			return err
		}
		out, err := o.Call(ctx, s.Operations, in)
		if err != nil {
			return err
		}
		return tell(ctx, s, in, out)
	})
	return c
}

// Told is the command of an operation that answers nothing. What is said of it names what the
// first argument names.
func Told[S, In any](e *Env, o *op.Op[S, In, op.Nothing], c *cobra.Command, said string) *cobra.Command {
	return Operation(e, o, c, func(_ context.Context, _ *app.Session, in *In, _ op.Nothing) error {
		for _, f := range op.Fields(in) {
			if !f.Arg() {
				continue
			}
			name := fmt.Sprint(f.Get(in))
			var value any = Bare{name}
			if f.Flag == "ID" {
				value = BareID{name}
			}
			return e.Output().Did(name, value, said, Clean(name))
		}
		return nil
	})
}

// Lists is the command of a list. A list that a filter left empty says so; the words for an
// empty one may name an argument, such as NAME.
func Lists[S, In, Row any](e *Env, o *op.Op[S, In, op.Page[Row]], c *cobra.Command, shown Listing[Row]) *cobra.Command {
	in := new(In)
	bounds := op.PagedOf(in)
	typed := e.Flagged(c, &o.Operation, in)
	return ListCommand(e, c, func(_ context.Context, s *app.Session, given []string) (l List[Row], err error) {
		if err := typed(given); err != nil {
			return l, err
		}
		c.Flags().Visit(func(f *pflag.Flag) {
			if f.Annotations[filterFlag] != nil {
				shown.Empty = []string{"No " + o.Noun + " matches.", "See them all with: weir " + o.Noun + " " + o.Verb}
			}
		})
		shown.Empty = slices.Clone(shown.Empty)
		for i, name := range strings.Fields(c.Use)[1:] {
			for j, line := range shown.Empty {
				shown.Empty[j] = strings.ReplaceAll(line, name, Clean(given[i]))
			}
		}
		next := ""
		if l.After = func(Row) string { return next }; bounds != nil {
			l.Page = bounds.Page()
		}
		l.Read = func(ctx context.Context) ([]Row, Listing[Row], error) {
			page, err := o.Call(ctx, s.Operations, in)
			next = page.Next
			return page.Items, shown, err
		}
		return l, nil
	})
}

// On is a command on the one thing that its argument names.
func On[T any](
	e *Env, c *cobra.Command, find func(ctx context.Context, s *app.Session, text string) (T, error), do func(ctx context.Context, o *Output, s *app.Session, found T) error,
) *cobra.Command {
	c.Args = e.Args(strings.Fields(c.Use)[1])
	c.RunE = e.Session(func(ctx context.Context, s *app.Session, args []string) error {
		found, err := find(ctx, s, args[0])
		if err != nil {
			return err
		}
		return do(ctx, e.Output(), s, found)
	})
	return c
}

// Shows is the command that shows one thing. read reads the page about it, which is called name
// with -o name, and print writes it for a person.
func Shows[P any](
	e *Env, c *cobra.Command, read func(ctx context.Context, s *app.Session, text string) (P, error), name func(P) string, print func(o *Output, page P) error,
) *cobra.Command {
	return On(e, c, read, func(_ context.Context, o *Output, _ *app.Session, page P) error {
		return o.Show(name(page), page, func() error { return print(o, page) })
	})
}

// filterFlag marks a flag that narrows a list.
const filterFlag = "weir_filter"

// Flagged gives a command the arguments and flags of an input: what has a name in capitals
// gives the arguments, query and body the flags. A truth that must be said has a flag for either
// answer. The function it returns fills the input.
func (e *Env) Flagged(c *cobra.Command, o *op.Operation, in any) func(given []string) error {
	fields := op.Fields(in)
	bounds := op.PagedOf(in)
	var args []op.Field
	var names []string
	for _, f := range fields {
		switch {
		case f.Arg():
			args, names = append(args, f), append(names, f.Flag)
		case f.Place == op.Header, f.Place == op.Path:
		case bounds != nil && f.Name == "limit":
			LimitFlag(c, &bounds.Limit)
		case bounds != nil && f.Name == "after":
			c.Flags().StringVar(&bounds.After, "after", "", "go on after this, which the page before ended with")
		default:
			AddFlag(c, f)
		}
	}
	c.Use = strings.Join(append([]string{o.Verb}, names...), " ")
	if c.Short == "" {
		c.Short = o.Summary
	}
	c.Args = e.Args(names...)
	return func(given []string) error {
		for i, f := range args {
			if err := parse(c, in, f, given[i], f.Flag); err != nil {
				return err
			}
		}
		if t, ok := in.(typed); ok {
			t.Typed()
		}
		for _, f := range fields {
			if f.Arg() || f.Place != op.Query && f.Place != op.Body || bounds != nil && (f.Name == "limit" || f.Name == "after") {
				continue
			}
			if err := Fill(c, in, f); err != nil {
				return err
			}
		}
		return nil
	}
}

// AddFlag is the flag of a field.
func AddFlag(c *cobra.Command, f op.Field) {
	flags, words := c.Flags(), flagWords(f.Doc)
	if len(f.Enum) > 0 {
		words += ": " + strings.Join(f.Enum, ", ")
	}
	switch {
	case f.Type.Kind() == reflect.Bool && f.Required:
		yes, no, _ := strings.Cut(f.Doc, "; ")
		flags.Bool(f.Flag, false, flagWords(strings.TrimPrefix(yes, "true: ")))
		flags.Bool("not-"+f.Flag, false, flagWords(strings.TrimPrefix(no, "false: ")))
	case f.Type.Kind() == reflect.Bool:
		flags.BoolP(f.Flag, f.Short, false, words)
	case f.Type.Kind() == reflect.Slice:
		flags.StringArray(f.Flag, nil, quoteForm(words))
	case f.Type.Kind() == reflect.Map:
		flags.StringToString(f.Flag, nil, quoteForm(words))
	default:
		flags.VarP(&word{kind: kindOf(f)}, f.Flag, f.Short, words)
	}
	if f.Place == op.Query {
		_ = flags.SetAnnotation(f.Flag, filterFlag, []string{}) // the flag is there
	}
	if len(f.Enum) > 0 {
		_ = c.RegisterFlagCompletionFunc(f.Flag, cobra.FixedCompletions(f.Enum, cobra.ShellCompDirectiveNoFileComp))
	}
}

// quoteForm lets the form of a value stand for its type in the help.
func quoteForm(words string) string {
	for _, form := range []string{"KEY=VALUE", "NAME=N", "KIND:VERB"} {
		words = strings.Replace(words, form, "`"+form+"`", 1)
	}
	return words
}

// word is what was typed for a field, and what kind of value that is in the help.
type word struct{ text, kind string }

// String implements [pflag.Value].
func (w *word) String() string { return w.text }

// Set implements [pflag.Value].
func (w *word) Set(text string) error { w.text = text; return nil }

// Type implements [pflag.Value].
func (w *word) Type() string { return w.kind }

func kindOf(f op.Field) string {
	switch t := f.Plain(); {
	case t == reflect.TypeFor[op.Wait]():
		return "duration"
	case t.Kind() == reflect.Int, t == reflect.TypeFor[int64]():
		return "int"
	}
	return "string"
}

// Fill sets a field by its flags.
func Fill(c *cobra.Command, in any, f op.Field) error {
	flags := c.Flags()
	given := []string{}
	switch {
	case f.Type.Kind() == reflect.Bool && f.Required:
		yes, _ := flags.GetBool(f.Flag)
		no, _ := flags.GetBool("not-" + f.Flag)
		if yes == no {
			return Invalid(fmt.Sprintf("give --%s or --not-%s", f.Flag, f.Flag), "neither or both are given")
		}
		f.Set(in, yes)
		return nil
	case f.Type.Kind() == reflect.Slice:
		given, _ = flags.GetStringArray(f.Flag)
	case f.Type.Kind() == reflect.Map:
		pairs, _ := flags.GetStringToString(f.Flag)
		for _, key := range slices.Sorted(maps.Keys(pairs)) {
			given = append(given, key+"="+pairs[key])
		}
	default:
		if text := flags.Lookup(f.Flag).Value.String(); text != "" || f.Optional() && flags.Changed(f.Flag) {
			given = append(given, text)
		}
	}
	if len(given) == 0 && f.Required {
		return Invalid("give --"+f.Flag+" TEXT: "+flagWords(f.Doc), "--%s is missing", f.Flag)
	}
	for _, text := range given {
		if err := parse(c, in, f, text, "--"+f.Flag); err != nil {
			return err
		}
	}
	return nil
}

// parse sets a field to what was typed for it; called is the argument or flag.
func parse(c *cobra.Command, in any, f op.Field, text, called string) error {
	err := f.Parse(in, text)
	if err == nil {
		return nil
	}
	next := "see: " + c.CommandPath() + " --help"
	if len(f.Enum) > 0 {
		next = "choose one of " + strings.Join(f.Enum, ", ")
	}
	return Invalid(next, "%s: %s", called, err)
}

// flagWords are the words of a field as the help of a flag has them.
func flagWords(doc string) string {
	first, size := utf8.DecodeRuneInString(doc)
	return string(unicode.ToLower(first)) + strings.TrimSuffix(doc[size:], ".")
}
