package door

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/problem"
)

// Config describes how clients reach Weir. The zero value serves this machine alone.
type Config struct {
	// Secure means that browsers use https, to this server or to a proxy before it.
	Secure bool
	// Hosts are the names by which browsers may call this server, with or without a port.
	// If empty, the names and addresses of this machine itself are allowed. Any other
	// name in a request is a sign of DNS rebinding.
	Hosts []string
	// Proxies are the addresses whose X-Forwarded-For is trusted.
	Proxies []netip.Prefix
	// OIDC is the identity provider, if there is one.
	OIDC *auth.OIDC
	// Refuse answers a request that does not pass. If nil, programs get problem+json, and
	// people get the login page or a line of text.
	Refuse func(http.ResponseWriter, *http.Request, *problem.Problem)
	// Log receives the errors of the server's side. If nil, nothing is logged.
	Log *slog.Logger
}

// Door finds the subject of each request. It is safe for concurrent use.
type Door struct {
	store  *auth.Store
	config Config
	hosts  []host
	origin *http.CrossOriginProtection
}

// Secure reports whether browsers use https, so that cookies may be marked Secure.
func (d *Door) Secure() bool { return d.config.Secure }

// New makes a door. An invalid host in the configuration is an error.
func New(store *auth.Store, config Config) (*Door, error) {
	d := &Door{store: store, config: config, origin: http.NewCrossOriginProtection()}
	for _, text := range config.Hosts {
		h, ok := parseHost(text)
		if !ok {
			return nil, problem.Refuse("host", "for example weir.example.com or 192.0.2.1:8080", "%q is not the name of a host", text)
		}
		d.hosts = append(d.hosts, h)
	}
	if d.config.Refuse == nil {
		d.config.Refuse = d.refuse
	}
	if d.config.Log == nil {
		d.config.Log = slog.New(slog.DiscardHandler)
	}
	return d, nil
}

// OIDC returns the identity provider, or nil.
func (d *Door) OIDC() *auth.OIDC { return d.config.OIDC }

// Guard wraps handlers that are open to everyone: it only checks that the request calls
// the server by one of its own names.
func (d *Door) Guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d.setHeaders(w.Header())
		if d.knows(r.Host) {
			next.ServeHTTP(w, r)
		} else {
			d.config.Refuse(w, r, misdirected(r.Host))
		}
	})
}

// Wrap wraps a handler; the package comment lists its checks. A request with a valid
// token may use any host name, because a page that was rebound to our address has no
// token of ours, and a scraper calls each server by its own name.
func (d *Door) Wrap(next http.Handler) http.Handler {
	known := d.wrap(next)
	named := d.Guard(known)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !hasBearer(r) {
			named.ServeHTTP(w, r)
			return
		}
		d.setHeaders(w.Header())
		known.ServeHTTP(w, r)
	})
}

// wrap finds the subject of a request.
func (d *Door) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r = r.WithContext(context.WithValue(r.Context(), clientKey{}, d.client(r)))
		if !hasBearer(r) {
			if err := d.origin.Check(r); err != nil {
				d.config.Refuse(w, r, problem.New(problem.Forbidden, "use the page of Weir itself, or a token", "the request comes from another site"))
				return
			}
		}
		subject, err := d.find(r, d.store.Session)
		if err != nil {
			p := explain(err)
			if !hasBearer(r) && p.Kind == problem.Unauthenticated {
				d.clear(w, sessionCookie)
			}
			d.config.Refuse(w, r, p)
			return
		}
		next.ServeHTTP(w, r.WithContext(auth.WithSubject(r.Context(), subject)))
	})
}

// explain turns an error in finding the subject into a problem that reveals only what a
// client may know.
func explain(err error) *problem.Problem {
	p, _ := problem.Public(err)
	return p
}

func hasBearer(r *http.Request) bool { return len(r.Header["Authorization"]) > 0 }

// Subject finds the subject of a request anew. A long-lived stream calls it from time to
// time to check that it is still allowed; that does not count as use of the session.
func (d *Door) Subject(r *http.Request) (auth.Subject, error) { return d.find(r, d.store.PeekSession) }

func (d *Door) find(r *http.Request, session func(context.Context, string) (auth.Subject, error)) (auth.Subject, error) {
	if hasBearer(r) {
		return d.bearer(r)
	}
	secret, err := d.cookie(r, sessionCookie)
	if err != nil || secret == "" {
		return auth.Subject{}, err
	}
	return session(r.Context(), secret)
}

func (d *Door) bearer(r *http.Request) (auth.Subject, error) {
	values := r.Header["Authorization"]
	scheme, secret, _ := strings.Cut(values[0], " ")
	secret = strings.TrimSpace(secret)
	switch {
	case len(values) > 1 || !strings.EqualFold(scheme, "Bearer"):
		return auth.Subject{}, problem.New(problem.Unauthenticated, "send one header: Authorization: Bearer weir_pat_…", "the header Authorization holds no bearer token")
	case auth.IsNode(secret):
		return d.store.Node(r.Context(), secret)
	default:
		return d.store.Token(r.Context(), secret)
	}
}

// Login logs the browser in. Its previous session ends and the new one has a new id, so
// that an attacker who planted a session id does not share the session.
func (d *Door) Login(w http.ResponseWriter, r *http.Request, name, password string) error {
	secret, _, err := d.store.Login(r.Context(), name, password, ClientOf(r))
	return d.enter(w, r, secret, err)
}

// LoginLink logs the browser in by a one-time link. user is for the set-up link.
func (d *Door) LoginLink(w http.ResponseWriter, r *http.Request, link string, user auth.NewUser) error {
	secret, _, err := d.store.UseLink(r.Context(), link, user, ClientOf(r))
	return d.enter(w, r, secret, err)
}

// enter gives the browser its session, or answers how long it has to wait before it may
// try again.
func (d *Door) enter(w http.ResponseWriter, r *http.Request, secret string, err error) error {
	if err != nil {
		if seconds, ok := auth.RetryAfter(err); ok {
			w.Header().Set("Retry-After", fmt.Sprint(seconds))
		}
		return err
	}
	if old, err := d.cookie(r, sessionCookie); err == nil && old != "" {
		if err := d.store.Logout(r.Context(), old); err != nil {
			d.config.Log.Warn("end the session before the new one", "error", err)
		}
	}
	d.set(w, sessionCookie, secret, 0)
	return nil
}

// Logout ends the browser's session.
func (d *Door) Logout(w http.ResponseWriter, r *http.Request) error {
	secret, err := d.cookie(r, sessionCookie)
	d.clear(w, sessionCookie)
	if err != nil || secret == "" {
		return nil
	}
	return d.store.Logout(r.Context(), secret)
}

// visitSeconds is how long a browser may stay at the provider.
const visitSeconds = 600

// StartOIDC sends the browser to the identity provider. The browser comes back to
// FinishOIDC, and from there goes to the path that [Next] returns now.
func (d *Door) StartOIDC(w http.ResponseWriter, r *http.Request) error {
	if d.config.OIDC == nil {
		return noProvider()
	}
	redirect, visit, err := d.config.OIDC.Start(r.Context())
	if err != nil {
		return err
	}
	d.set(w, visitCookie, visit+" "+Next(r), visitSeconds)
	http.Redirect(w, r, redirect, http.StatusSeeOther)
	return nil
}

// FinishOIDC receives the browser from the identity provider and logs it in.
func (d *Door) FinishOIDC(w http.ResponseWriter, r *http.Request) error {
	if d.config.OIDC == nil {
		return noProvider()
	}
	value, err := d.cookie(r, visitCookie)
	d.clear(w, visitCookie)
	if err != nil {
		return err
	}
	visit, next, _ := strings.Cut(value, " ")
	secret, _, err := d.config.OIDC.Finish(r.Context(), visit, r.URL.Query(), ClientOf(r))
	if err := d.enter(w, r, secret, err); err != nil {
		return err
	}
	http.Redirect(w, r, safe(next), http.StatusSeeOther) // #nosec G710 -- safe lets only paths of ours through
	return nil
}

func noProvider() error {
	return problem.New(problem.NotFound, "log in with a password", "no identity provider is set up")
}

// errTwo is the cause of the refusal of two cookies of one name.
var errTwo = errors.New("two cookies of one name")
