package problem

// These are the texts of advise.
const (
	SeeAll      = seeAll
	CreateFirst = createFirst
)
