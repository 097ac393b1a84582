package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/account"
	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/problem"
)

func (e *env) user() *cobra.Command {
	return e.noun("user", "People: who may log in, and what they may do", []string{"users"},
		lists(e, account.ListUsers, &cobra.Command{}, userListing), e.userShow(), e.userCreate(), e.userRole(), e.userPassword(), e.userLink(),
		e.userChange(account.Disable, "Let a user in no more; sessions and tokens end at once", "may not log in any more"),
		e.userChange(account.Enable, "Let a disabled user in again", "may log in again"), e.userDelete())
}

var userListing = listing[auth.User]{
	name:  func(u auth.User) string { return u.Name },
	empty: []string{"There are no users.", "Make the first one with: weir user create NAME --role admin, or in the browser with: weir open"},
	columns: []column[auth.User]{
		{title: "NAME", value: func(_ *output, u auth.User) string { return u.Name }},
		{title: "ROLE", value: func(_ *output, u auth.User) string { return string(u.Role) }},
		{title: "STATE", value: func(_ *output, u auth.User) string { return userState(u) }, paint: stateColor},
		{title: "LOGS IN BY", value: func(_ *output, u auth.User) string { return loginBy(u) }},
		{title: "EMAIL", wide: true, value: func(_ *output, u auth.User) string { return u.Email }},
		{title: "CREATED", ages: true, value: func(o *output, u auth.User) string { return o.ago(u.CreatedAt) }},
		{title: "LAST LOGIN", ages: true, value: func(o *output, u auth.User) string { return o.ago(at(u.LoginAt)) }},
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

func (e *env) userShow() *cobra.Command {
	show := func(_ context.Context, _ *app.Session, _ *account.NamedUser, u auth.User) error {
		o := e.output()
		return o.show(u.Name, u, func() error {
			return o.details([]field{
				{"User", u.Name},
				{"Role", string(u.Role)},
				{"State", userState(u)},
				{"Email", u.Email},
				{"Logs in by", loginBy(u)},
				{"Id", u.ID},
				{"Created", o.both(u.CreatedAt)},
				{"Last login", o.both(at(u.LoginAt))},
				{"Disabled", o.both(at(u.DisabledAt))},
			})
		})
	}
	return operation(e, account.ShowUser, &cobra.Command{}, show)
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

func (e *env) userCreate() *cobra.Command {
	var role, email string
	var fromStdin, link bool
	c := &cobra.Command{
		Use: "create NAME", Short: "Make a user", Args: e.args("NAME"), ValidArgsFunction: cobra.NoFileCompletions,
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
	return e.accounts(c, func(ctx context.Context, s *app.Session, args []string) error {
		parsed, err := auth.ParseRole(role)
		if err != nil {
			return err
		}
		in := &account.CreatingUser{Body: auth.NewUser{Name: args[0], Role: parsed, Email: email}}
		if !link {
			if in.Body.Password, err = e.newPassword(fromStdin); err != nil {
				return err
			}
		}
		u, err := account.CreateUser.Call(ctx, s.Operations, in)
		if err != nil {
			return err
		}
		o := e.output()
		if !link {
			return o.did(u.Name, u, "User %s is made, with the role %s.", u.Name, u.Role)
		}
		address, err := newLink(ctx, s, u.Name)
		if err != nil {
			return err
		}
		if err := o.did(address, madeUser{u, address}, "User %s is made, with the role %s. This logs in, once:\n%s", u.Name, u.Role, address); err != nil {
			return err
		}
		o.aboutLink(address)
		return nil
	})
}

func (e *env) userRole() *cobra.Command {
	c := operation(e, account.SetRole, &cobra.Command{Short: "Change what a user may do: " + roleList()},
		func(ctx context.Context, s *app.Session, in *account.SettingRole, _ op.Nothing) error {
			return e.didUser(ctx, s, in.User, "has the role "+string(in.Body.Role))
		})
	c.ValidArgsFunction = func(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) == 1 {
			return roleNames(), cobra.ShellCompDirectiveNoFileComp
		}
		return e.first(userNames)(cmd, args, begun)
	}
	return e.personal(c)
}

func (e *env) userPassword() *cobra.Command {
	var fromStdin bool
	c := &cobra.Command{
		Use: "password NAME", Short: "Set the password of a user; its other sessions end", Args: e.args("NAME"),
	}
	c.Flags().BoolVar(&fromStdin, "password-stdin", false, "read the new password from standard input")
	return e.accounts(c, func(ctx context.Context, s *app.Session, args []string) error {
		password, err := e.newPassword(fromStdin)
		if err != nil {
			return err
		}
		in := &account.SettingPassword{NamedUser: account.NamedUser{User: args[0]}}
		in.Body = account.PasswordBody{Old: e.person.password, New: password}
		if _, err := account.SetPassword.Call(ctx, s.Operations, in); err != nil {
			return err
		}
		return e.didUser(ctx, s, args[0], "has a new password; sessions elsewhere have ended")
	})
}

// userChange is a verb that changes one user and needs nothing more.
func (e *env) userChange(o *op.Op[*auth.Store, account.NamedUser, op.Nothing], short, said string) *cobra.Command {
	tell := func(ctx context.Context, s *app.Session, in *account.NamedUser, _ op.Nothing) error {
		return e.didUser(ctx, s, in.User, said)
	}
	return e.personal(operation(e, o, &cobra.Command{Short: short}, tell))
}

// didUser says what became of a user.
func (e *env) didUser(ctx context.Context, s *app.Session, name, said string) error {
	u, err := account.ShowUser.Call(ctx, s.Operations, &account.NamedUser{User: name})
	if err != nil {
		return err
	}
	return e.output().did(u.Name, u, "User %s %s.", u.Name, said)
}

func (e *env) userDelete() *cobra.Command {
	c := &cobra.Command{Aliases: []string{"rm", "drop"}, Short: "Delete a user with its sessions and tokens; what it did stays in the timeline"}
	return e.personal(operation(e, account.DeleteUser, c, func(_ context.Context, _ *app.Session, in *account.NamedUser, _ op.Nothing) error {
		return e.output().did(in.User, bare{in.User}, "User %s is gone.", in.User)
	}))
}

func (e *env) userLink() *cobra.Command {
	c := &cobra.Command{
		Short: "Make a link that logs a user in once, for example to set a new password",
		Long: `Make a link that logs a user in once. Whoever opens it is that user: send it on a
way that only the user reads.`,
	}
	return e.personal(operation(e, account.NewLink, c, func(_ context.Context, s *app.Session, in *account.Linking, made account.Secret) error {
		o, address := e.output(), s.Target.LinkURL(made.Secret)
		if err := o.did(address, struct {
			User string `json:"user"`
			Link string `json:"link"`
		}{in.User, address}, "%s", address); err != nil {
			return err
		}
		o.aboutLink(address)
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

// newLink makes a link that logs a user in once; without a name, one that makes the first user.
func newLink(ctx context.Context, s *app.Session, name string) (string, error) {
	made, err := account.NewLink.Call(ctx, s.Operations, &account.Linking{NamedUser: account.NamedUser{User: name}})
	if err != nil {
		return "", err
	}
	return s.Target.LinkURL(made.Secret), nil
}

// aboutLink says what to do where it is not known where the dashboard is.
func (o *output) aboutLink(address string) {
	if o.table() && strings.HasPrefix(address, "/") {
		o.say("Put the address of your dashboard before it.")
	}
}

var userNames = listed(account.ListUsers, func(u auth.User) (string, string) { return u.Name, string(u.Role) })
