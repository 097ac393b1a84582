package docker

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/distribution/reference"
	"github.com/moby/moby/api/pkg/authconfig"
	"github.com/moby/moby/api/types/registry"
)

// login is what docker login stores for one registry.
type login struct {
	// Auth is the base64 of user:password.
	Auth string `json:"auth"`
}

// credentials returns what docker login stored for the registry of the image, in the form
// that the engine expects, or "" without a login. It does not ask credential helpers,
// which keep passwords elsewhere.
func credentials(image string) (string, error) {
	folder := os.Getenv("DOCKER_CONFIG")
	if folder == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", nil // a user without a home has no logins
		}
		folder = filepath.Join(home, ".docker")
	}
	text, err := os.ReadFile(filepath.Join(folder, "config.json")) // #nosec G304 G703 -- the operator's own file
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read the logins of Docker: %w", err)
	}
	var file struct {
		Auths map[string]login `json:"auths"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return "", fmt.Errorf("read the logins of Docker: %w", err)
	}
	return pick(image, file.Auths)
}

// pick returns the login for the image's registry.
func pick(image string, logins map[string]login) (string, error) {
	named, err := reference.ParseNormalizedNamed(image)
	if err != nil {
		return "", err
	}
	host := reference.Domain(named)
	keys := []string{host, "https://" + host, "https://" + host + "/v1/"}
	if host == "docker.io" {
		keys = []string{"https://index.docker.io/v1/", "index.docker.io", "docker.io"}
	}
	for _, key := range keys {
		entry, ok := logins[key]
		if !ok || entry.Auth == "" {
			continue
		}
		plain, err := base64.StdEncoding.DecodeString(entry.Auth)
		user, password, found := strings.Cut(string(plain), ":")
		if err != nil || !found {
			return "", fmt.Errorf("the login for %s in Docker's config.json cannot be read", key)
		}
		return authconfig.Encode(registry.AuthConfig{Username: user, Password: password, ServerAddress: key})
	}
	return "", nil
}
