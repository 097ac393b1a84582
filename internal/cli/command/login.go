package command

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
	name, Password string
	fromStdin      bool
}

// Accounts is a command on people and credentials.
func (e *Env) Accounts(c *cobra.Command, f func(ctx context.Context, s *app.Session, args []string) error) *cobra.Command {
	c.RunE = e.Session(f)
	return e.Personal(c)
}

// Personal lets a command ask who does it, where a token may not.
func (e *Env) Personal(c *cobra.Command) *cobra.Command {
	c.Annotations = map[string]string{personal: "yes"}
	c.Flags().StringVar(&e.Person.name, "as", "", "over a server's API: `who` you are; a token may not do this")
	c.Flags().BoolVar(&e.Person.fromStdin, "login-stdin", false, "over a server's API: read your own password from the first line of standard input")
	return c
}

// logIn makes the session that of a person.
func (e *Env) logIn(ctx context.Context, s *app.Session) (err error) {
	if e.Person.name == "" {
		e.Person.name = s.Target.User
	}
	if e.Person.name == "" {
		if e.Person.name, err = e.Ask("Your name at "+s.Target.Server, Whoami(), "--as NAME"); err != nil {
			return err
		}
	}
	if e.Person.fromStdin {
		e.Person.Password, err = e.StdinSecret("password")
	} else {
		e.Person.Password, err = e.AskSecret("Password of "+e.Person.name+" at "+s.Target.Server, "--login-stdin")
	}
	if err != nil {
		return err
	}
	return s.Login(ctx, e.Person.name, e.Person.Password)
}
