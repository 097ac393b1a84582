package auth

import (
	"cmp"
	"context"
	"crypto/subtle"
	"errors"
	"net/url"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// answer returns the identity that the provider's answer proves.
func (o *OIDC) answer(ctx context.Context, visit string, query url.Values) (who identity, err error) {
	if _, err := hashOf(visitSecret, visit); err != nil {
		return who, err
	}
	if state := made(visit, "state"); subtle.ConstantTimeCompare([]byte(state), []byte(query.Get("state"))) != 1 {
		return who, distrust("the answer belongs to another visit")
	}
	now, err := o.store.endVisit(ctx, query.Get("state"))
	if err != nil {
		return who, err
	}
	switch {
	case query.Get("error") != "":
		return who, distrust("the identity provider refused: %s", oneLine(query.Get("error"), 100))
	case query.Has("iss") && query.Get("iss") != o.config.Issuer:
		return who, distrust("the answer is from another provider")
	case query.Get("code") == "":
		return who, distrust("the answer has no code")
	}
	provider, config, err := o.discover(ctx)
	if err != nil {
		return who, err
	}
	ctx = oidc.ClientContext(ctx, o.client)
	token, err := config.Exchange(ctx, query.Get("code"), oauth2.VerifierOption(made(visit, "verifier")))
	if err != nil {
		if refusal := new(oauth2.RetrieveError); errors.As(err, &refusal) {
			return who, distrust("the identity provider refused the code")
		}
		return who, o.unreachable(err)
	}
	id, err := o.verify(ctx, provider, token, made(visit, "nonce"), now)
	if err != nil {
		return who, err
	}
	claims, err := o.claims(ctx, provider, token, id)
	if err != nil {
		return who, err
	}
	name, _ := claims["preferred_username"].(string)
	email, _ := claims["email"].(string)
	return identity{
		issuer: o.config.Issuer, subject: id.Subject, name: cmp.Or(name, email, id.Subject), email: email, role: o.role(claims[o.config.RoleClaim]),
	}, nil
}

// verify accepts the id token only if this provider signed it, for this client and this
// visit, and recently.
func (o *OIDC) verify(ctx context.Context, provider *oidc.Provider, token *oauth2.Token, nonce string, now time.Time) (*oidc.IDToken, error) {
	raw, ok := token.Extra("id_token").(string)
	if !ok {
		return nil, distrust("the identity provider sent no id token")
	}
	verifier := provider.Verifier(&oidc.Config{ClientID: o.config.ClientID, SupportedSigningAlgs: algorithms, Now: func() time.Time { return now }})
	id, err := verifier.Verify(ctx, raw)
	if err != nil {
		p := distrust("the identity provider's answer is not valid")
		p.Err = err
		return nil, p
	}
	var more struct {
		Party string `json:"azp"`
	}
	if err := id.Claims(&more); err != nil {
		return nil, distrust("the identity provider's answer cannot be read")
	}
	switch {
	case subtle.ConstantTimeCompare([]byte(id.Nonce), []byte(nonce)) != 1:
		return nil, distrust("the id token belongs to another visit")
	case (len(id.Audience) > 1 || more.Party != "") && more.Party != o.config.ClientID:
		return nil, distrust("the id token was made for another program")
	case id.Subject == "":
		return nil, distrust("the id token names nobody")
	}
	return id, nil
}

// claims returns the claims of the id token. Claims that it lacks are read from the
// provider's userinfo endpoint, for the same person.
func (o *OIDC) claims(ctx context.Context, provider *oidc.Provider, token *oauth2.Token, id *oidc.IDToken) (map[string]any, error) {
	claims := map[string]any{}
	if err := id.Claims(&claims); err != nil {
		return nil, distrust("the identity provider's answer cannot be read")
	}
	_, named := claims["preferred_username"]
	_, ranked := claims[o.config.RoleClaim]
	if provider.UserInfoEndpoint() == "" || (named && (ranked || o.config.RoleClaim == "")) {
		return claims, nil
	}
	info, err := provider.UserInfo(ctx, oauth2.StaticTokenSource(token))
	if err != nil {
		return nil, o.unreachable(err)
	}
	more := map[string]any{}
	if err := info.Claims(&more); err != nil || info.Subject != id.Subject {
		return nil, distrust("the identity provider speaks of somebody else")
	}
	for name, value := range more {
		if _, known := claims[name]; !known {
			claims[name] = value
		}
	}
	return claims, nil
}

// role returns the highest role that a value of the claim maps to.
func (o *OIDC) role(claim any) Role {
	values, _ := claim.([]any)
	if text, ok := claim.(string); ok {
		values = []any{text}
	}
	best := Role("")
	for _, v := range values {
		text, _ := v.(string)
		if role, ok := o.config.Roles[text]; ok && (best == "" || role.reaches(best)) {
			best = role
		}
	}
	return cmp.Or(best, o.config.DefaultRole)
}
