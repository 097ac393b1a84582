package site

// Look is how a state is shown beside its word.
type Look struct{ Icon, Class string }

// LookOf is plain for a word that a newer server may have.
func LookOf(looks map[string]Look, word string) Look {
	if l, ok := looks[word]; ok {
		return l
	}
	return Look{"info", "is-pending"}
}

// Share is a part of a bar.
type Share struct {
	Status, Class string
	N             int
	X, Width      float64
}
