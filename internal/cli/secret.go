package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/vault"
	"github.com/weirhq/weir/internal/work"
)

// secretValueMost is more than any secret has.
const secretValueMost = 1 << 20

func (e *env) secret() *cobra.Command {
	return e.noun("secret", "Passwords and keys for steps, sealed in the database", []string{"secrets"}, e.secretList(), e.secretSet(), e.secretDelete(), e.secretRotate())
}

func (e *env) secretList() *cobra.Command {
	return lists(e, work.ListSecrets, &cobra.Command{Short: "List the names of secrets; nobody can read a value"}, secretListing)
}

var secretListing = listing[vault.Secret]{
	name:  func(s vault.Secret) string { return s.Name },
	empty: []string{"There are no secrets.", "Make one with: weir secret set NAME"},
	columns: []column[vault.Secret]{
		{title: "NAME", value: func(_ *output, s vault.Secret) string { return s.Name }},
		{title: "VERSION", value: func(_ *output, s vault.Secret) string { return strconv.Itoa(s.Version) }},
		{title: "BY", value: func(_ *output, s vault.Secret) string { return s.By }},
		{title: "CREATED", ages: true, value: func(o *output, s vault.Secret) string { return o.ago(s.CreatedAt) }},
		{title: "CHANGED", ages: true, value: func(o *output, s vault.Secret) string { return o.ago(s.ChangedAt) }},
		{title: "NOTE", value: func(_ *output, s vault.Secret) string { return s.Note }},
	},
}

func (e *env) secretSet() *cobra.Command {
	var note string
	c := &cobra.Command{
		Use: "set NAME", Short: "Make a secret, or give it another value", Args: e.args("NAME"),
		Long: `Make a secret, or give it another value. The value is asked for, or read from
standard input: never put it on a command line, where every process can read it.
The line break at the end of a single line does not belong to it.

A step gets it by name, as a variable or a file:
  secrets: {TOKEN: deploy_token}
  files: {keys/id: deploy_key}`,
		Example: "  weir secret set deploy_token\n  weir secret set deploy_key --note 'key of the build host' <~/.ssh/id_deploy",
		RunE: e.session(func(ctx context.Context, s *app.Session, args []string) error {
			value, err := e.secretValue()
			if err != nil {
				return err
			}
			in := &work.PuttingSecret{NamedSecret: work.NamedSecret{Secret: args[0]}, Body: work.SecretBody{Value: value, Note: note}}
			if _, err := work.PutSecret.Call(ctx, s.Operations, in); err != nil {
				return err
			}
			return e.output().did(args[0], struct {
				Name string `json:"name"`
			}{args[0]}, "Secret %s is set.", clean(args[0]))
		}),
	}
	c.Flags().StringVar(&note, "note", "", "what it is for; everybody can read it")
	settingFlags(c, false, "secret_key_file")
	return c
}

// secretValue asks for a value, or reads it from standard input.
func (e *env) secretValue() (string, error) {
	if f, ok := e.In.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return e.askSecret("Value", "standard input")
	}
	text, err := io.ReadAll(io.LimitReader(e.In, secretValueMost+1))
	if err != nil {
		return "", err
	}
	const next = "give it on standard input: weir secret set NAME <FILE"
	switch {
	case len(text) > secretValueMost:
		return "", problem.Refuse("value", next, "it is longer than 1 MiB")
	case len(text) == 0:
		return "", problem.Refuse("value", next, "nothing came on standard input")
	}
	value := string(text)
	if line := strings.TrimSuffix(strings.TrimSuffix(value, "\n"), "\r"); !strings.Contains(line, "\n") {
		value = line // a key of several lines keeps its last break: some programs want it
	}
	return value, nil
}

func (e *env) secretDelete() *cobra.Command {
	c := &cobra.Command{Aliases: []string{"rm", "drop"}, Short: "Delete a secret; steps that name it fail"}
	return operation(e, work.DeleteSecret, c, func(_ context.Context, _ *app.Session, in *work.NamedSecret, _ op.Nothing) error {
		return e.output().did(in.Secret, struct {
			Name string `json:"name"`
		}{in.Secret}, "Secret %s is gone.", clean(in.Secret))
	})
}

func (e *env) secretRotate() *cobra.Command {
	c := &cobra.Command{
		Long: `Seal every secret, and the address of every database, with the first key of the
key file. It may be repeated at any time, and runs beside servers.

First put a new key in front of the others, in the key file of every server:
  openssl rand -base64 32
Servers see it at once. Then run this, and remove the other lines when it says
that nothing is left.`,
	}
	settingFlags(c, false, "secret_key_file")
	return operation(e, work.RotateSecrets, c, func(_ context.Context, _ *app.Session, _ *struct{}, done vault.Rotation) error {
		if err := e.output().did(done.Key, done, "Key %s sealed %s; it had sealed %d before, and %d are left.",
			done.Key, plural(done.Sealed, "secret", "secrets"), done.Before, done.Left); err != nil {
			return err
		}
		for _, f := range done.Failed {
			fmt.Fprintf(e.Err, "%s: %s\n", clean(f.Name), clean(f.Error))
		}
		if done.Left > 0 {
			fmt.Fprintln(e.Err, e.hint("next: set those that do not open again, then: weir secret rotate. Keep all lines of the key file until then."))
			return quiet(problem.Failed)
		}
		return nil
	})
}

var secretNames = listed(work.ListSecrets, func(x vault.Secret) (string, string) { return x.Name, x.Note })
