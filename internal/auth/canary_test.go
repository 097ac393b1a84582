package auth

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// dump returns every row of every table of the schema, as text.
func dump(x *setup) string {
	x.t.Helper()
	tables, err := collect(x.t.Context(), x.db.Pool, "tables", func(s *string) []any { return []any{s} },
		`select c.oid::regclass::text from pg_class c where c.relnamespace = 'weir'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition`)
	must(x.t, err)
	var b strings.Builder
	for _, table := range tables {
		rows, err := x.db.Pool.Query(x.t.Context(), `select t::text from `+table+` t`)
		must(x.t, err)
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		must(x.t, err)
		fmt.Fprintln(&b, table, strings.Join(lines, "\n"))
	}
	return b.String()
}

// TestCanary passes every secret through all code that handles it; none of them is in the
// database, in the log or in an error afterwards.
func TestCanary(t *testing.T) {
	x, p, o := startOIDC(t, nil)
	ctx := t.Context()
	secrets := map[string]string{}
	keep := func(name, secret string, err error) string {
		t.Helper()
		must(t, err)
		if secret == "" {
			t.Fatalf("no %s", name)
		}
		secrets[name] = secret
		return secret
	}
	var errs []string
	fails := func(err error) {
		t.Helper()
		if err == nil {
			t.Fatal("that should have failed")
		}
		errs = append(errs, fmt.Sprintf("%v %+v", err, err))
	}
	const typo, misplaced, changed = "canary typo of a password", "canary-password-typed-as-name", "canary changed password"
	for name, secret := range map[string]string{"password": good, "typo": typo, "password typed as a name": misplaced, "changed password": changed} {
		secrets[name] = secret
	}
	keep("set-up link", firstOf(x.NewLink(ctx, System("test"), "", 0)), nil)
	session, ada, err := x.UseLink(ctx, secrets["set-up link"], first, here)
	keep("session", session, err)
	keep("login link", firstOf(x.NewLink(ctx, ada, "ada", 0)), nil)
	_, token, err := x.CreateToken(ctx, ada, NewToken{Name: "ci", Scopes: []string{"*:*"}})
	keep("token", token, err)
	keep("join", firstOf(x.CreateJoin(ctx, ada, NewJoin{Any: true})), nil)
	keep("credential", firstOf(x.Join(ctx, secrets["join"], "n1")), nil)
	keep("unused join", firstOf(x.CreateJoin(ctx, ada, NewJoin{Node: "n2", Any: true})), nil)
	redirect, visit, err := o.Start(ctx)
	keep("visit", visit, err)
	for _, what := range []string{"state", "nonce", "verifier"} {
		secrets[what] = made(visit, what)
	}
	query := p.visit(t, redirect, "Ada Lovelace")
	secrets["code"] = query.Get("code")
	secrets["client secret"] = "a client secret"
	query.Set("state", "wrong")
	_, _, err = o.Finish(ctx, visit, query, here)
	fails(err)
	for name, secret := range secrets {
		_, _, err := x.Login(ctx, secret, secret, here)
		fails(err)
		_, err = x.Link(ctx, secret[1:])
		fails(err)
		_, err = x.Join(ctx, secret+name, "n3")
		fails(err)
	}
	for range perAccount.free + 2 {
		_, _, err = x.Login(ctx, "ada", typo, Client{Address: "203.0.113.9"})
		fails(err)
		_, _, err = x.Login(ctx, misplaced, typo, Client{Address: "203.0.113.9"})
		fails(err)
	}
	must(t, x.SetPassword(ctx, System("test"), "ada", "", changed))
	_, err = x.Token(ctx, secrets["token"])
	must(t, err)
	_, err = x.Node(ctx, secrets["credential"])
	must(t, err)

	everything := dump(x) + x.log.String() + strings.Join(errs, "\n")
	if !strings.Contains(everything, "login_throttled") || !strings.Contains(everything, "$argon2id$") {
		t.Fatal("the dump does not hold what it should")
	}
	for name, secret := range secrets {
		for form, text := range map[string]string{
			"clear": secret, "half": secret[:len(secret)/2+4], "hex": hex.EncodeToString([]byte(secret)),
			"base64": strings.TrimRight(base64.StdEncoding.EncodeToString([]byte(secret)), "="), "base64url": base64url([]byte(secret)),
		} {
			if len(text) > 12 && strings.Contains(everything, text) {
				t.Errorf("the %s is there in %s", name, form)
			}
		}
	}
}

func firstOf(secret string, _ error) string { return secret }
