package docker

import (
	"slices"
	"strings"

	"github.com/distribution/reference"

	"github.com/weirhq/weir/internal/pattern"
	"github.com/weirhq/weir/internal/problem"
)

// image returns the full name of the image that a step asks for, if the image is allowed.
func (c Config) image(asked string) (reference.Named, error) {
	if asked == "" {
		return nil, problem.Refuse("image", "name one, such as alpine:3.20", "the step names no image")
	}
	named, err := reference.ParseNormalizedNamed(asked)
	if err != nil {
		return nil, problem.Refuse("image", "name one, such as alpine:3.20", "%q is no name of an image", asked)
	}
	named = reference.TagNameOnly(named)
	if len(c.Images) > 0 && !slices.ContainsFunc(c.Images, func(p string) bool { return matches(p, named) }) {
		return nil, &problem.Problem{
			Kind: problem.Forbidden, Field: "image",
			What: "image: " + reference.FamiliarString(named) + " may not run on this node",
			Next: "use one that its operator allows: " + strings.Join(c.Images, ", "),
		}
	}
	return named, nil
}

// matches compares a pattern with the names that people use for an image: in full, as
// typed, and both without the tag.
func matches(allowed string, image reference.Named) bool {
	name := reference.TrimNamed(image)
	re := pattern.Wildcard(allowed)
	for _, form := range []string{image.String(), reference.FamiliarString(image), name.Name(), reference.FamiliarName(name)} {
		if re.MatchString(form) {
			return true
		}
	}
	return false
}

// shared reports whether a network belongs to the machine or to another container.
func shared(network string) bool {
	return network == "host" || strings.HasPrefix(network, "container:") || strings.HasPrefix(network, "ns:")
}

// network returns the network that the step gets.
func (c Config) network(asked string) (string, error) {
	switch {
	case asked == "":
		return c.Network, nil
	case shared(asked):
	case asked == "none", asked == c.Network, slices.Contains(c.Networks, asked):
		return asked, nil
	}
	return "", &problem.Problem{
		Kind: problem.Forbidden, Field: "network",
		What: "network: " + asked + " is not for steps on this node",
		Next: "use one of: " + strings.Join(append([]string{"none"}, c.Networks...), ", ") + "; or let the node allow it: weir agent --docker-network " + asked,
	}
}
