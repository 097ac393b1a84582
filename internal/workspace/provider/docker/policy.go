package docker

import (
	"fmt"
	"slices"
	"strings"

	"github.com/distribution/reference"

	"github.com/weirhq/weir/internal/pattern"
	"github.com/weirhq/weir/internal/workspace/provider"
)

// Image refuses what may not run here.
func (p *Provider) Image(asked string) error { return p.config.Image(asked) }

// Image refuses what may not run there.
func (c Config) Image(asked string) error {
	if asked == "" {
		return nil
	}
	_, err := c.allowed(asked)
	return err
}

// allowed gives the full name of an image, if it may run.
func (c Config) allowed(asked string) (string, error) {
	named, err := reference.ParseNormalizedNamed(asked)
	if err != nil {
		return "", fmt.Errorf("%w: %q is no name of one", provider.ErrImage, asked)
	}
	named = reference.TagNameOnly(named)
	bare := reference.TrimNamed(named)
	// The names that people use for an image: in full, as typed, and both without the tag.
	forms := []string{named.String(), reference.FamiliarString(named), bare.Name(), reference.FamiliarName(bare)}
	for _, allowed := range c.Images {
		if slices.ContainsFunc(forms, pattern.Wildcard(allowed).MatchString) {
			return reference.FamiliarString(named), nil
		}
	}
	if len(c.Images) == 0 {
		return "", fmt.Errorf("%w: %s is not allowed, only the built-in workspace is", provider.ErrImage, asked)
	}
	return "", fmt.Errorf("%w: %s is not allowed, these are: %s", provider.ErrImage, asked, strings.Join(c.Images, ", "))
}
