package remote

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/weirhq/weir/internal/problem"
)

// refused reads the error in the server's answer.
func (t *Transport) refused(response *http.Response, text []byte) error {
	p, _, ok := problem.Received(response.Header.Get("Content-Type"), text)
	if !ok {
		p = problem.New(problem.Failed, "is this the address of a Weir server? Check it, or the proxy before it", "%s answered %s", t.Server(), response.Status)
		if response.StatusCode >= http.StatusInternalServerError {
			p.Kind = problem.Unreachable
		}
		return p
	}
	switch {
	case p.Kind == problem.Unauthenticated && t.credential != "":
		p.Next = "the credential was taken away, or another machine joined as " + t.node + ": make a join token on the server (weir join create) and start the agent with it"
	case p.Kind == problem.Unauthenticated:
		p.Next = "a join token works once and for a time: make another on the server (weir join create)"
	}
	return p
}

// unreachable says which server it was, what is wrong and what to do.
func (t *Transport) unreachable(err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	cause := err
	var outer *url.Error
	if errors.As(err, &outer) {
		cause = outer.Err // the rest repeats the method and the address
	}
	p := problem.New(problem.Unreachable, "is it running, and is the address right?", "the server at %s does not answer: %s", t.Server(), cause)
	p.Err = err
	var (
		invalid x509.CertificateInvalidError
		unknown x509.UnknownAuthorityError
		host    x509.HostnameError
		record  tls.RecordHeaderError
	)
	switch {
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		p.What = "the certificate of " + t.Server() + " is not valid now: " + invalid.Error()
		p.Next = "this machine's clock says " + time.Now().Format(time.RFC3339) + ": if that is wrong, set it; else the server needs a new certificate"
	case errors.As(err, &unknown):
		p.What = "the certificate of " + t.Server() + " is signed by nobody this machine trusts"
		p.Next = "give the certificate of your authority: --ca FILE"
	case errors.As(err, &host):
		p.What = "the certificate of " + t.Server() + " is for another name: " + host.Error()
		p.Next = "use the name in the certificate as the server's address"
	case errors.As(err, &record), errors.Is(err, http.ErrSchemeMismatch):
		p.What = "the server at " + t.Server() + " does not speak TLS there"
		p.Next = "use http:// in the address, or turn TLS on at the server"
	default:
		return p
	}
	p.Kind = problem.Failed
	return p
}

// transient reports whether a later connection may succeed.
func transient(err error) bool {
	var (
		untrusted *tls.CertificateVerificationError
		record    tls.RecordHeaderError
	)
	return !errors.As(err, &untrusted) && !errors.As(err, &record) && !errors.Is(err, http.ErrSchemeMismatch) && !errors.Is(err, context.Canceled)
}
