package web

// look is how a state is shown beside its word.
type look struct{ icon, class string }

// lookOf is plain for a word that a newer server may have.
func lookOf(looks map[string]look, word string) look {
	if l, ok := looks[word]; ok {
		return l
	}
	return look{"info", "is-pending"}
}

// share is a part of a bar.
type share struct {
	status, class string
	n             int
	x, width      float64
}
