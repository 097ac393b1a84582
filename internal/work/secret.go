package work

import (
	"context"
	"net/http"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/vault"
)

// NamedSecret names a secret.
type NamedSecret struct {
	Secret string `path:"secret" flag:"NAME" maxLength:"100"`
}

// SecretBody is a secret.
type SecretBody struct {
	Value string `json:"value" maxLength:"65536" doc:"It is never shown again."`
	Note  string `json:"note,omitempty" maxLength:"1000" doc:"For people."`
}

// PuttingSecret sets a secret.
type PuttingSecret struct {
	NamedSecret
	Body SecretBody
}

// Operations on secrets. None of them reads a value.
var (
	ListSecrets = op.New(onSecrets(http.MethodGet, "list", "", auth.Read, "List the names of secrets"),
		func(ctx context.Context, v *vault.Vault, _ auth.Subject, _ *struct{}) (op.Page[vault.Secret], error) {
			list, err := v.List(ctx)
			return op.PageOf(list, ""), err
		})
	PutSecret = op.New(onSecrets(http.MethodPut, "set", "/{secret}", auth.Manage, "Set a secret; its value is never shown again"),
		func(ctx context.Context, v *vault.Vault, who auth.Subject, in *PuttingSecret) (op.Nothing, error) {
			return op.Nothing{}, v.Put(ctx, who.By(), in.Secret, in.Body.Value, in.Body.Note)
		})
	DeleteSecret = op.New(onSecrets(http.MethodDelete, "delete", "/{secret}", auth.Manage, "Delete a secret"),
		func(ctx context.Context, v *vault.Vault, who auth.Subject, in *NamedSecret) (op.Nothing, error) {
			return op.Nothing{}, v.Delete(ctx, who.By(), in.Secret)
		})
	RotateSecrets = op.New(onSecrets(http.MethodPost, "rotate", "/rotate", auth.Administer, "Seal every secret with the first key of the key file"),
		func(ctx context.Context, v *vault.Vault, _ auth.Subject, _ *struct{}) (vault.Rotation, error) {
			return v.Rotate(ctx)
		})
)

func onSecrets(method, verb, below string, right auth.Verb, summary string) op.Operation {
	return op.Operation{Noun: "secret", Verb: verb, Method: method, Path: "/secrets" + below, Right: right, Summary: summary}
}
