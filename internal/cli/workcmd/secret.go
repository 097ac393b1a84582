package workcmd

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
	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/vault"
	"github.com/weirhq/weir/internal/work"
)

// secretValueMost is more than any secret has.
const secretValueMost = 1 << 20

// Secret is the command weir secret.
func Secret(e *command.Env) *cobra.Command {
	return e.Noun("secret", "Passwords and keys for steps, sealed in the database", []string{"secrets"}, secretList(e), secretSet(e), secretDelete(e), secretRotate(e))
}

func secretList(e *command.Env) *cobra.Command {
	return command.Lists(e, work.ListSecrets, &cobra.Command{Short: "List the names of secrets; nobody can read a value"}, secretListing)
}

var secretListing = command.Listing[vault.Secret]{
	Name:  func(s vault.Secret) string { return s.Name },
	Empty: []string{"There are no secrets.", "Make one with: weir secret set NAME"},
	Columns: []command.Column[vault.Secret]{
		{Title: "NAME", Value: func(_ *command.Output, s vault.Secret) string { return s.Name }},
		{Title: "VERSION", Value: func(_ *command.Output, s vault.Secret) string { return strconv.Itoa(s.Version) }},
		{Title: "BY", Value: func(_ *command.Output, s vault.Secret) string { return s.By }},
		{Title: "CREATED", Ages: true, Value: func(o *command.Output, s vault.Secret) string { return o.Ago(s.CreatedAt) }},
		{Title: "CHANGED", Ages: true, Value: func(o *command.Output, s vault.Secret) string { return o.Ago(s.ChangedAt) }},
		{Title: "NOTE", Value: func(_ *command.Output, s vault.Secret) string { return s.Note }},
	},
}

func secretSet(e *command.Env) *cobra.Command {
	var note string
	c := &cobra.Command{
		Use: "set NAME", Short: "Make a secret, or give it another value", Args: e.Args("NAME"),
		Long: `Make a secret, or give it another value. The value is asked for, or read from
standard input: never put it on a command line, where every process can read it.
The line break at the end of a single line does not belong to it.

A step gets it by name, as a variable or a file:
  secrets: {TOKEN: deploy_token}
  files: {keys/id: deploy_key}`,
		Example: "  weir secret set deploy_token\n  weir secret set deploy_key --note 'key of the build host' <~/.ssh/id_deploy",
		RunE: e.Session(func(ctx context.Context, s *app.Session, args []string) error {
			value, err := secretValue(e)
			if err != nil {
				return err
			}
			in := &work.PuttingSecret{NamedSecret: work.NamedSecret{Secret: args[0]}, Body: work.SecretBody{Value: value, Note: note}}
			if _, err := work.PutSecret.Call(ctx, s.Operations, in); err != nil {
				return err
			}
			return e.Output().Did(args[0], command.Bare{Name: args[0]}, "Secret %s is set.", command.Clean(args[0]))
		}),
	}
	c.Flags().StringVar(&note, "note", "", "what it is for; everybody can read it")
	command.SettingFlags(c, false, "secret_key_file")
	return c
}

// secretValue asks for a value, or reads it from standard input.
func secretValue(e *command.Env) (string, error) {
	if f, ok := e.In.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return e.AskSecret("Value", "standard input")
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

func secretDelete(e *command.Env) *cobra.Command {
	c := &cobra.Command{Aliases: []string{"rm", "drop"}, Short: "Delete a secret; steps that name it fail"}
	return command.Told(e, work.DeleteSecret, c, "Secret %s is gone.")
}

func secretRotate(e *command.Env) *cobra.Command {
	c := &cobra.Command{
		Long: `Seal every secret, and the address of every database, with the first key of the
key file. It may be repeated at any time, and runs beside servers.

First put a new key in front of the others, in the key file of every server:
  openssl rand -base64 32
Servers see it at once. Then run this, and remove the other lines when it says
that nothing is left.`,
	}
	command.SettingFlags(c, false, "secret_key_file")
	return command.Operation(e, work.RotateSecrets, c, func(_ context.Context, _ *app.Session, _ *struct{}, done vault.Rotation) error {
		if err := e.Output().Did(done.Key, done, "Key %s sealed %s; it had sealed %d before, and %d are left.",
			done.Key, command.Plural(done.Sealed, "secret", "secrets"), done.Before, done.Left); err != nil {
			return err
		}
		for _, f := range done.Failed {
			fmt.Fprintf(e.Err, "%s: %s\n", command.Clean(f.Name), command.Clean(f.Error))
		}
		if done.Left > 0 {
			fmt.Fprintln(e.Err, e.Hint("next: set those that do not open again, then: weir secret rotate. Keep all lines of the key file until then."))
			return command.Quiet(problem.Failed)
		}
		return nil
	})
}

// SecretNames are those of secrets.
var SecretNames = command.Listed(work.ListSecrets, func(x vault.Secret) (string, string) { return x.Name, x.Note })
