package auth

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/weirhq/weir/internal/problem"
)

const (
	visitTTL        = 10 * time.Minute
	providerTimeout = 10 * time.Second
)

// algorithms are the accepted signatures. All need the provider's private key: with HS256
// our own client secret would be enough to forge one, and "none" needs no key at all.
var algorithms = []string{oidc.RS256, oidc.RS384, oidc.RS512, oidc.ES256, oidc.ES384, oidc.ES512, oidc.PS256, oidc.PS384, oidc.PS512, oidc.EdDSA}

// OIDCConfig configures an identity provider and the roles of its users.
type OIDCConfig struct {
	// Issuer is the provider's URL, as the provider itself states it.
	Issuer       string
	ClientID     string
	ClientSecret string
	// RedirectURL is where the provider sends browsers back to.
	RedirectURL string
	// Scopes are requested beside openid. Nil means profile and email.
	Scopes []string
	// RoleClaim names the claim, text or list of texts, whose values Roles maps to roles;
	// the highest wins. If empty, the provider does not decide roles.
	RoleClaim string
	Roles     map[string]Role
	// DefaultRole is the role of all other users. Empty means viewer.
	DefaultRole Role
	// HTTP is the client that reaches the provider. Nil means a client with a timeout.
	HTTP *http.Client
}

// check returns an error if the configuration is invalid.
func (c *OIDCConfig) check() error {
	for _, field := range []struct{ name, value string }{{"oidc issuer", c.Issuer}, {"oidc redirect url", c.RedirectURL}} {
		u, err := url.Parse(field.value)
		if err != nil || u.Host == "" || (u.Scheme != "https" && (u.Scheme != "http" || !loopback(u.Hostname()))) {
			return problem.Refuse(field.name, "for example https://login.example.com; plain http is for this machine alone", "%q is not an https URL", field.value)
		}
	}
	if c.ClientID == "" {
		return problem.Refuse("oidc client id", "register Weir with the provider", "it is missing")
	}
	c.DefaultRole = cmp.Or(c.DefaultRole, Viewer)
	if _, err := ParseRole(string(c.DefaultRole)); err != nil {
		return err
	}
	for _, role := range c.Roles {
		if _, err := ParseRole(string(role)); err != nil {
			return err
		}
	}
	return nil
}

func loopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || (err == nil && ip.IsLoopback())
}

// OIDC logs people in at an identity provider: authorization code with PKCE.
//
// A visit to the provider depends on one secret that only the browser has, in a cookie.
// State, nonce and PKCE verifier are derived from it, so that an answer meant for another
// browser matches none of them; the database keeps the hash of the state, so that an
// answer counts once, on any server.
type OIDC struct {
	config OIDCConfig
	store  *Store
	client *http.Client

	mu       sync.Mutex
	provider *oidc.Provider
}

// NewOIDC checks the configuration. It contacts the provider only when a person logs in,
// so that Weir starts without it.
func NewOIDC(config OIDCConfig, store *Store) (*OIDC, error) {
	if err := config.check(); err != nil {
		return nil, err
	}
	client := config.HTTP
	if client == nil {
		client = &http.Client{Timeout: providerTimeout}
	}
	return &OIDC{config: config, store: store, client: client}, nil
}

// Issuer returns the provider's URL.
func (o *OIDC) Issuer() string { return o.config.Issuer }

// discover fetches the provider's addresses, once.
func (o *OIDC) discover(ctx context.Context) (*oidc.Provider, *oauth2.Config, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.provider == nil {
		provider, err := oidc.NewProvider(oidc.ClientContext(ctx, o.client), o.config.Issuer)
		if err != nil {
			return nil, nil, o.unreachable(err)
		}
		o.provider = provider
	}
	scopes := o.config.Scopes
	if scopes == nil {
		scopes = []string{"profile", "email"}
	}
	return o.provider, &oauth2.Config{
		ClientID: o.config.ClientID, ClientSecret: o.config.ClientSecret, RedirectURL: o.config.RedirectURL,
		Endpoint: o.provider.Endpoint(), Scopes: append([]string{oidc.ScopeOpenID}, scopes...),
	}, nil
}

func (o *OIDC) unreachable(err error) error {
	p := problem.New(problem.Unreachable, "try again; if it stays, check the provider and its settings here", "the identity provider %s does not answer as it should", o.config.Issuer)
	p.Err = err
	return p
}

// made derives a value of a visit from its secret.
func made(visit, what string) string {
	mac := hmac.New(sha256.New, []byte(visit))
	mac.Write([]byte(what))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// Start begins a visit. It returns where to send the browser, and the secret that the
// browser has to bring back in a cookie.
func (o *OIDC) Start(ctx context.Context) (redirect, visit string, err error) {
	_, config, err := o.discover(ctx)
	if err != nil {
		return "", "", err
	}
	visit = newSecret(visitSecret)
	state := made(visit, "state")
	sum := sha256.Sum256([]byte(state))
	if _, err := o.store.pool.Exec(ctx, `
		insert into weir.oidc_visits (hash, expires_at) values ($2, coalesce($1, now()) + $3::interval)`, o.store.clock(), sum[:], visitTTL); err != nil {
		return "", "", fmt.Errorf("start a visit to the identity provider: %w", err)
	}
	return config.AuthCodeURL(state, oidc.Nonce(made(visit, "nonce")), oauth2.S256ChallengeOption(made(visit, "verifier"))), visit, nil
}

// Finish takes the provider's answer, from the query of the redirect, and the secret of
// the visit, and starts a session.
func (o *OIDC) Finish(ctx context.Context, visit string, query url.Values, from Client) (session string, _ Subject, err error) {
	who, err := o.answer(ctx, visit, query)
	if err != nil {
		return "", Subject{}, o.failed(ctx, err, from)
	}
	return o.store.identityLogin(ctx, who, o.config.RoleClaim != "", from)
}

func distrust(format string, args ...any) *problem.Problem {
	return problem.New(problem.Unauthenticated, "log in again from the start", format, args...)
}

// failed records a login at the provider that was refused. A technical failure on the way
// is no sign of an attack, and is left to the caller.
func (o *OIDC) failed(ctx context.Context, err error, from Client) error {
	p := problem.Explain(err)
	if p.Kind != problem.Unauthenticated {
		return err
	}
	if p.Err != nil {
		o.store.log.Warn("an identity provider's answer was refused", "issuer", o.config.Issuer, "error", p.Err)
	}
	note := o.store.note(ctx, o.store.pool, event{
		typ: "login_failed", level: "warn", message: p.What, data: map[string]any{"address": from.Address, "method": "oidc", "issuer": o.config.Issuer},
	})
	if note != nil {
		return note
	}
	return err
}
