package httpapi

import (
	"context"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/vault"
)

// Secrets keeps values under a name and tells them to nobody here.
// [*vault.Vault] does.
type Secrets interface {
	List(ctx context.Context) ([]vault.Secret, error)
	Put(ctx context.Context, by, name, value, note string) error
	Delete(ctx context.Context, by, name string) error
	Rotate(ctx context.Context) (vault.Rotation, error)
}

func (a *API) secrets() (Secrets, error) {
	if a.config.Secrets == nil {
		return nil, problem.New(problem.NotFound, "start the server with a secret key: secret_key_file", "this server has no key for secrets")
	}
	return a.config.Secrets, nil
}

// KeptSecret is what may be known of a secret.
type KeptSecret vault.Secret

// listSecrets says which there are. There is no way to read a value.
func (a *API) listSecrets(ctx context.Context, _ *struct{}) (*All[KeptSecret], error) {
	store, err := a.secrets()
	if err != nil {
		return nil, err
	}
	list, err := store.List(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]KeptSecret, len(list))
	for i, s := range list {
		out[i] = KeptSecret(s)
	}
	return all(out), nil
}

// SecretInput names a secret.
type SecretInput struct {
	Secret string `path:"secret" maxLength:"100"`
}

// PutSecretInput sets a secret.
type PutSecretInput struct {
	SecretInput
	Body struct {
		Value string `json:"value" maxLength:"65536" doc:"It is never shown again."`
		Note  string `json:"note,omitempty" maxLength:"1000" doc:"For people."`
	}
}

func (a *API) putSecret(ctx context.Context, in *PutSecretInput) (*Empty, error) {
	store, err := a.secrets()
	if err != nil {
		return nil, err
	}
	return nil, store.Put(ctx, auth.From(ctx).By(), in.Secret, in.Body.Value, in.Body.Note)
}

func (a *API) dropSecret(ctx context.Context, in *SecretInput) (*Empty, error) {
	store, err := a.secrets()
	if err != nil {
		return nil, err
	}
	return nil, store.Delete(ctx, auth.From(ctx).By(), in.Secret)
}

// RotatedSecrets is what a rotation did.
type RotatedSecrets vault.Rotation

// rotateSecrets seals every secret with the key that is the first of the file now.
func (a *API) rotateSecrets(ctx context.Context, _ *struct{}) (*One[RotatedSecrets], error) {
	store, err := a.secrets()
	if err != nil {
		return nil, err
	}
	done, err := store.Rotate(ctx)
	if err != nil {
		return nil, err
	}
	return &One[RotatedSecrets]{Body: RotatedSecrets(done)}, nil
}
