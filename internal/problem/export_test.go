package problem

// What advise says.
const (
	SeeAll      = seeAll
	CreateFirst = createFirst
)
