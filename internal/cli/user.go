package cli

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/problem"
)

func (e *env) user() *cobra.Command {
	return e.noun("user", "People: who may log in, and what they may do", []string{"users"},
		e.userList(), e.userShow(), e.userCreate(), e.userRole(), e.userPassword(), e.userLink(),
		e.userChange("disable NAME", "Let a user in no more; sessions and tokens end at once", "may not log in any more", func(ctx context.Context, s *app.Session, name string) error {
			return s.Accounts.DisableUser(ctx, name)
		}),
		e.userChange("enable NAME", "Let a disabled user in again", "may log in again", func(ctx context.Context, s *app.Session, name string) error {
			return s.Accounts.EnableUser(ctx, name)
		}),
		e.userDelete())
}

func (e *env) userList() *cobra.Command {
	var page view.Page
	c := &cobra.Command{Short: "List users"}
	listCommand(e, c, func(_ context.Context, s *app.Session, _ []string) (list[auth.User], error) {
		return plainList(page, userListing, func(ctx context.Context, page view.Page) ([]auth.User, error) {
			return s.Accounts.Users(ctx, auth.Page(page))
		}), nil
	})
	pageFlags(c, &page, "name")
	return c
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

// at is a time that may not have been.
func at(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}

func (e *env) userShow() *cobra.Command {
	return &cobra.Command{
		Use: "show NAME", Short: "Show a user", Args: e.args("NAME"),
		RunE: e.session(func(ctx context.Context, s *app.Session, args []string) error {
			u, err := s.Accounts.User(ctx, args[0])
			if err != nil {
				return err
			}
			o := e.output()
			switch {
			case o.data():
				return o.value(u)
			case o.format == "name":
				return o.did(u.Name, nil, "")
			}
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
		}),
	}
}

// roleFlag offers the roles.
func roleFlag(c *cobra.Command, into *string, def string) {
	c.Flags().StringVar(into, "role", def, "what the user may do: "+roleList())
	_ = c.RegisterFlagCompletionFunc("role", cobra.FixedCompletions(roleNames(), cobra.ShellCompDirectiveNoFileComp))
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
	roleFlag(c, &role, string(auth.Viewer))
	c.Flags().StringVar(&email, "email", "", "address of the user")
	c.Flags().BoolVar(&fromStdin, "password-stdin", false, "read the password from standard input")
	c.Flags().BoolVar(&link, "link", false, "no password: print a link that logs in once")
	return e.accounts(c, func(ctx context.Context, s *app.Session, args []string) error {
		parsed, err := auth.ParseRole(role)
		if err != nil {
			return err
		}
		n := auth.NewUser{Name: args[0], Role: parsed, Email: email}
		if !link {
			if n.Password, err = e.newPassword(fromStdin); err != nil {
				return err
			}
		}
		u, err := s.Accounts.CreateUser(ctx, n)
		if err != nil {
			return err
		}
		o := e.output()
		if !link {
			return o.did(u.Name, u, "User %s is made, with the role %s.", u.Name, u.Role)
		}
		address, err := newLink(ctx, s, u.Name, 0)
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
	c := &cobra.Command{
		Use: "role NAME ROLE", Short: "Change what a user may do: " + roleList(), Args: e.args("NAME", "ROLE"),
	}
	c.ValidArgsFunction = func(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) == 1 {
			return roleNames(), cobra.ShellCompDirectiveNoFileComp
		}
		return e.first(userNames)(cmd, args, begun)
	}
	return e.accounts(c, func(ctx context.Context, s *app.Session, args []string) error {
		role, err := auth.ParseRole(args[1])
		if err != nil {
			return err
		}
		if err := s.Accounts.SetRole(ctx, args[0], role); err != nil {
			return err
		}
		return e.didUser(ctx, s, args[0], "has the role "+string(role))
	})
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
		if err := s.Accounts.SetPassword(ctx, args[0], e.person.password, password); err != nil {
			return err
		}
		return e.didUser(ctx, s, args[0], "has a new password; sessions elsewhere have ended")
	})
}

// userChange is a verb that changes one user and needs nothing more.
func (e *env) userChange(use, short, said string, do func(ctx context.Context, s *app.Session, name string) error) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short, Args: e.args("NAME")}
	return e.accounts(c, func(ctx context.Context, s *app.Session, args []string) error {
		if err := do(ctx, s, args[0]); err != nil {
			return err
		}
		return e.didUser(ctx, s, args[0], said)
	})
}

// didUser says what became of a user.
func (e *env) didUser(ctx context.Context, s *app.Session, name, said string) error {
	u, err := s.Accounts.User(ctx, name)
	if err != nil {
		return err
	}
	return e.output().did(u.Name, u, "User %s %s.", u.Name, said)
}

func (e *env) userDelete() *cobra.Command {
	c := &cobra.Command{Use: "delete NAME", Aliases: []string{"rm", "drop"}, Short: "Delete a user with its sessions and tokens; what it did stays in the timeline", Args: e.args("NAME")}
	return e.accounts(c, func(ctx context.Context, s *app.Session, args []string) error {
		if err := s.Accounts.DeleteUser(ctx, args[0]); err != nil {
			return err
		}
		return e.output().did(args[0], struct {
			Name string `json:"name"`
		}{args[0]}, "User %s is gone.", args[0])
	})
}

func (e *env) userLink() *cobra.Command {
	var ttl string
	c := &cobra.Command{
		Use: "link NAME", Short: "Make a link that logs a user in once, for example to set a new password", Args: e.args("NAME"),
		Long: `Make a link that logs a user in once. Whoever opens it is that user: send it on a
way that only the user reads.`,
	}
	c.Flags().StringVar(&ttl, "ttl", "", "how long it is good; default: 15m")
	return e.accounts(c, func(ctx context.Context, s *app.Session, args []string) error {
		d, err := readTTL(ttl)
		if err != nil {
			return err
		}
		address, err := newLink(ctx, s, args[0], d)
		if err != nil {
			return err
		}
		o := e.output()
		if err := o.did(address, struct {
			User string `json:"user"`
			Link string `json:"link"`
		}{args[0], address}, "%s", address); err != nil {
			return err
		}
		o.aboutLink(address)
		return nil
	})
}

// readTTL reads how long a credential is good; "" leaves it to the server.
func readTTL(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	d, err := app.ParseDuration(text)
	if err != nil || d == app.Forever {
		return 0, problem.Refuse("ttl", "write it so: --ttl 12h or --ttl 30d", "%q is not a duration", text)
	}
	return d, nil
}

// newLink makes a link that logs a user in once.
func newLink(ctx context.Context, s *app.Session, name string, ttl time.Duration) (string, error) {
	secret, err := s.Accounts.NewLink(ctx, name, ttl)
	if err != nil {
		return "", err
	}
	return s.Target.LinkURL(secret), nil
}

// aboutLink says what to do where it is not known where the dashboard is.
func (o *output) aboutLink(address string) {
	if o.table() && strings.HasPrefix(address, "/") {
		o.say("Put the address of your dashboard before it.")
	}
}

func userNames(ctx context.Context, s *app.Session) ([][2]string, error) {
	users, err := s.Accounts.Users(ctx, auth.Page{Limit: completeMost})
	return pairs(users, err, func(u auth.User) (string, string) { return u.Name, string(u.Role) })
}
