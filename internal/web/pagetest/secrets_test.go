package pagetest_test

import (
	"testing"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/web/webtest"
)

// A secret is set and deleted; its value is on no page, not even after a refusal.
func TestSecrets(t *testing.T) {
	s := webtest.Start(t)
	c := s.Login(t, "mia", auth.Maintainer)
	const value = "correct-horse\nbattery"
	c.Get(t, "/secrets").Is(t, 200).Has(t, "No secret yet", `href="/new-secret"`)
	c.Post(t, "/new-secret", form("name", "bad name", "value", value)).Is(t, 422).Has(t, `value="bad name"`).Lacks(t, "correct-horse")
	c.Post(t, "/new-secret", form("name", "deploy", "value", "")).Is(t, 422)
	to := c.Post(t, "/new-secret", form("name", "deploy", "value", "correct-horse\r\nbattery", "note", "for <b>the</b> site")).Is(t, 303).To()
	c.Get(t, to).Is(t, 200).Has(t, "deploy", "for &lt;b&gt;", "mia").Lacks(t, "correct-horse", "<b>the")
	got, err := s.Vault.Open(t.Context(), []string{"deploy"})
	if err != nil || got["deploy"] != value {
		t.Fatalf("%q, %v", got["deploy"], err)
	}
	c.Get(t, "/new-secret?name=deploy").Is(t, 200).Has(t, "Set deploy anew", "for &lt;b&gt;").Lacks(t, "correct-horse")
	c.Post(t, "/new-secret?name=deploy", form("name", "deploy", "value", "other")).Is(t, 303)
	c.Get(t, "/secrets").Is(t, 200).Has(t, `class="num">2</td>`)
	operator := s.Login(t, "ada", auth.Operator)
	for _, path := range []string{"/secrets", "/new-secret", "/secrets/deploy/delete"} {
		operator.Get(t, path).Is(t, 403)
	}
	operator.Post(t, "/secrets/deploy/delete", form()).Is(t, 403)
	operator.Get(t, "/workflows").Is(t, 200).Lacks(t, `href="/secrets"`)
	c.Get(t, "/secrets/none/delete").Is(t, 404)
	c.Get(t, "/secrets/deploy/delete").Is(t, 200).Has(t, "cannot be undone")
	c.Post(t, "/secrets/deploy/delete", form()).Is(t, 303)
	c.Get(t, "/secrets").Is(t, 200).Has(t, "No secret yet")
	if got := s.One(t, `select count(*)::text from weir.events e where e::text like '%correct-horse%' or e::text like '%other%'`); got != "0" {
		t.Errorf("%s events tell the secret", got)
	}
}
