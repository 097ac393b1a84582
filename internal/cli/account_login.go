package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/app"
)

// personal marks a command that a token may not do over a server's API, as it
// hands out rights. There a person logs in for it, and out again at its end.
const personal = "personal"

// person is who logs in for a command.
type person struct {
	name, password string
	fromStdin      bool
}

// accounts is a command on people and credentials.
func (e *env) accounts(c *cobra.Command, f func(ctx context.Context, s *app.Session, args []string) error) *cobra.Command {
	c.RunE = e.session(f)
	return e.personal(c)
}

// personal lets a command ask who does it, where a token may not.
func (e *env) personal(c *cobra.Command) *cobra.Command {
	c.Annotations = map[string]string{personal: "yes"}
	c.Flags().StringVar(&e.person.name, "as", "", "over a server's API: `who` you are; a token may not do this")
	c.Flags().BoolVar(&e.person.fromStdin, "login-stdin", false, "over a server's API: read your own password from the first line of standard input")
	return c
}

// logIn makes the session that of a person.
func (e *env) logIn(ctx context.Context, s *app.Session) (err error) {
	if e.person.name == "" {
		e.person.name = s.Target.User
	}
	if e.person.name == "" {
		if e.person.name, err = e.ask("Your name at "+s.Target.Server, whoami(), "--as NAME"); err != nil {
			return err
		}
	}
	if e.person.fromStdin {
		e.person.password, err = e.stdinSecret("password")
	} else {
		e.person.password, err = e.askSecret("Password of "+e.person.name+" at "+s.Target.Server, "--login-stdin")
	}
	if err != nil {
		return err
	}
	return s.Login(ctx, e.person.name, e.person.password)
}
