package accountcmd

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/account"
	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/problem"
)

// User is the command weir user.
func User(e *command.Env) *cobra.Command {
	return e.Noun("user", "People: who may log in, and what they may do", []string{"users"},
		command.Lists(e, account.ListUsers, &cobra.Command{}, userListing), userShow(e), userCreate(e), userRole(e), userPassword(e), userLink(e),
		userChange(e, account.Disable, "Let a user in no more; sessions and tokens end at once", "may not log in any more"),
		userChange(e, account.Enable, "Let a disabled user in again", "may log in again"), userDelete(e))
}

var userListing = command.Listing[auth.User]{
	Name:  func(u auth.User) string { return u.Name },
	Empty: []string{"There are no users.", "Make the first one with: weir user create NAME --role admin, or in the browser with: weir open"},
	Columns: []command.Column[auth.User]{
		{Title: "NAME", Value: func(_ *command.Output, u auth.User) string { return u.Name }},
		{Title: "ROLE", Value: func(_ *command.Output, u auth.User) string { return string(u.Role) }},
		{Title: "STATE", Value: func(_ *command.Output, u auth.User) string { return userState(u) }, Paint: command.StateColor},
		{Title: "LOGS IN BY", Value: func(_ *command.Output, u auth.User) string { return loginBy(u) }},
		{Title: "EMAIL", Wide: true, Value: func(_ *command.Output, u auth.User) string { return u.Email }},
		{Title: "CREATED", Ages: true, Value: func(o *command.Output, u auth.User) string { return o.Ago(u.CreatedAt) }},
		{Title: "LAST LOGIN", Ages: true, Value: func(o *command.Output, u auth.User) string { return o.AgoOf(u.LoginAt) }},
	},
}

func userState(u auth.User) string {
	if u.Disabled() {
		return "disabled"
	}
	return "active"
}

// loginBy is how a user can prove who it is.
func loginBy(u auth.User) string {
	switch {
	case u.Issuer != "":
		return u.Issuer
	case u.Password:
		return "password"
	}
	return "link only"
}

func userShow(e *command.Env) *cobra.Command {
	show := func(_ context.Context, _ *app.Session, _ *account.NamedUser, u auth.User) error {
		o := e.Output()
		return o.Show(u.Name, u, func() error {
			return o.Details([]command.Field{
				{"User", u.Name},
				{"Role", string(u.Role)},
				{"State", userState(u)},
				{"Email", u.Email},
				{"Logs in by", loginBy(u)},
				{"Id", u.ID},
				{"Created", o.Both(u.CreatedAt)},
				{"Last login", o.BothOf(u.LoginAt, "")},
				{"Disabled", o.BothOf(u.DisabledAt, "")},
			})
		})
	}
	return command.Operation(e, account.ShowUser, &cobra.Command{}, show)
}

func roleNames() []string {
	var names []string
	for _, r := range auth.Roles() {
		names = append(names, string(r))
	}
	return names
}

func roleList() string { return strings.Join(roleNames(), ", ") }

// madeUser is what programs read of a user who comes in by a link.
type madeUser struct {
	auth.User
	Link string `json:"link"`
}

func userCreate(e *command.Env) *cobra.Command {
	var role, email string
	var fromStdin, link bool
	c := &cobra.Command{
		Use: "create NAME", Short: "Make a user", Args: e.Args("NAME"), ValidArgsFunction: cobra.NoFileCompletions,
		Long: `Make a user. The password is asked for, or read from standard input: it is
never an argument, as other people of the machine can read those. With --link
the user gets no password but a link that logs in once and sets one.`,
		Example: "  weir user create ada --role admin\n  weir user create ci --role operator --password-stdin <password.txt\n  weir user create bob --link",
	}
	c.Flags().StringVar(&role, "role", string(auth.Viewer), "what the user may do: "+roleList())
	_ = c.RegisterFlagCompletionFunc("role", cobra.FixedCompletions(roleNames(), cobra.ShellCompDirectiveNoFileComp))
	c.Flags().StringVar(&email, "email", "", "address of the user")
	c.Flags().BoolVar(&fromStdin, "password-stdin", false, "read the password from standard input")
	c.Flags().BoolVar(&link, "link", false, "no password: print a link that logs in once")
	return e.Accounts(c, func(ctx context.Context, s *app.Session, args []string) error {
		parsed, err := auth.ParseRole(role)
		if err != nil {
			return err
		}
		in := &account.CreatingUser{Body: auth.NewUser{Name: args[0], Role: parsed, Email: email}}
		if !link {
			if in.Body.Password, err = e.NewPassword(fromStdin); err != nil {
				return err
			}
		}
		u, err := account.CreateUser.Call(ctx, s.Operations, in)
		if err != nil {
			return err
		}
		o := e.Output()
		if !link {
			return o.Did(u.Name, u, "User %s is made, with the role %s.", u.Name, u.Role)
		}
		address, err := NewLink(ctx, s, u.Name)
		if err != nil {
			return err
		}
		if err := o.Did(address, madeUser{u, address}, "User %s is made, with the role %s. This logs in, once:\n%s", u.Name, u.Role, address); err != nil {
			return err
		}
		aboutLink(o, address)
		return nil
	})
}

func userRole(e *command.Env) *cobra.Command {
	c := command.Operation(e, account.SetRole, &cobra.Command{Short: "Change what a user may do: " + roleList()},
		func(ctx context.Context, s *app.Session, in *account.SettingRole, _ op.Nothing) error {
			return didUser(ctx, e, s, in.User, "has the role "+string(in.Body.Role))
		})
	c.ValidArgsFunction = func(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) == 1 {
			return roleNames(), cobra.ShellCompDirectiveNoFileComp
		}
		return e.First(UserNames)(cmd, args, begun)
	}
	return e.Personal(c)
}

func userPassword(e *command.Env) *cobra.Command {
	var fromStdin bool
	c := &cobra.Command{
		Use: "password NAME", Short: "Set the password of a user; its other sessions end", Args: e.Args("NAME"),
	}
	c.Flags().BoolVar(&fromStdin, "password-stdin", false, "read the new password from standard input")
	return e.Accounts(c, func(ctx context.Context, s *app.Session, args []string) error {
		password, err := e.NewPassword(fromStdin)
		if err != nil {
			return err
		}
		in := &account.SettingPassword{NamedUser: account.NamedUser{User: args[0]}}
		in.Body = account.PasswordBody{Old: e.Person.Password, New: password}
		if _, err := account.SetPassword.Call(ctx, s.Operations, in); err != nil {
			return err
		}
		return didUser(ctx, e, s, args[0], "has a new password; sessions elsewhere have ended")
	})
}

// userChange is a verb that changes one user and needs nothing more.
func userChange(e *command.Env, o *op.Op[*auth.Store, account.NamedUser, op.Nothing], short, said string) *cobra.Command {
	tell := func(ctx context.Context, s *app.Session, in *account.NamedUser, _ op.Nothing) error {
		return didUser(ctx, e, s, in.User, said)
	}
	return e.Personal(command.Operation(e, o, &cobra.Command{Short: short}, tell))
}

// didUser says what became of a user.
func didUser(ctx context.Context, e *command.Env, s *app.Session, name, said string) error {
	u, err := account.ShowUser.Call(ctx, s.Operations, &account.NamedUser{User: name})
	if err != nil {
		return err
	}
	return e.Output().Did(u.Name, u, "User %s %s.", u.Name, said)
}

func userDelete(e *command.Env) *cobra.Command {
	c := &cobra.Command{Aliases: []string{"rm", "drop"}, Short: "Delete a user with its sessions and tokens; what it did stays in the timeline"}
	return e.Personal(command.Told(e, account.DeleteUser, c, "User %s is gone."))
}

func userLink(e *command.Env) *cobra.Command {
	c := &cobra.Command{
		Short: "Make a link that logs a user in once, for example to set a new password",
		Long: `Make a link that logs a user in once. Whoever opens it is that user: send it on a
way that only the user reads.`,
	}
	return e.Personal(command.Operation(e, account.NewLink, c, func(_ context.Context, s *app.Session, in *account.Linking, made account.Secret) error {
		o, address := e.Output(), s.Target.LinkURL(made.Secret)
		if err := o.Did(address, struct {
			User string `json:"user"`
			Link string `json:"link"`
		}{in.User, address}, "%s", address); err != nil {
			return err
		}
		aboutLink(o, address)
		return nil
	}))
}

// readTTL reads how long a credential is good; "" leaves it to the server.
func readTTL(text string) (op.Period, error) {
	if text == "" {
		return 0, nil
	}
	d, err := app.ParseDuration(text)
	if err != nil || d == app.Forever {
		return 0, problem.Refuse("ttl", "write it so: --ttl 12h or --ttl 30d", "%q is not a duration", text)
	}
	return op.Period(d), nil
}

// NewLink makes a link that logs a user in once; without a name, one that makes the first user.
func NewLink(ctx context.Context, s *app.Session, name string) (string, error) {
	made, err := account.NewLink.Call(ctx, s.Operations, &account.Linking{NamedUser: account.NamedUser{User: name}})
	if err != nil {
		return "", err
	}
	return s.Target.LinkURL(made.Secret), nil
}

// aboutLink says what to do where it is not known where the dashboard is.
func aboutLink(o *command.Output, address string) {
	if o.Table() && strings.HasPrefix(address, "/") {
		o.Say("Put the address of your dashboard before it.")
	}
}

// UserNames are those of users.
var UserNames = command.Listed(account.ListUsers, func(u auth.User) (string, string) { return u.Name, string(u.Role) })

// Self is the user that whoever works on the database most likely is; "": there
// are no users yet.
func Self(ctx context.Context, s *app.Session) (string, error) {
	users, err := account.ListUsers.Call(ctx, s.Operations, &op.Paged{Limit: 1000})
	if err != nil || len(users.Items) == 0 {
		return "", err
	}
	me := command.Whoami()
	var admins []string
	for _, u := range users.Items {
		switch {
		case u.Disabled():
		case u.Name == me:
			return me, nil
		case u.Role == auth.Admin:
			admins = append(admins, u.Name)
		}
	}
	if len(admins) == 1 {
		return admins[0], nil
	}
	return "", command.Invalid("say who you are: --user NAME; weir user list shows them", "there is no user %q here", me)
}
