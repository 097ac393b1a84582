package op

// DecisionBody says why. Who is known.
type DecisionBody struct {
	Reason string `json:"reason,omitempty" maxLength:"1000" doc:"For people; goes to the timeline."`
}

// Given is a body that may have been left out: zero if it was.
func Given[T any](body *T) (given T) {
	if body != nil {
		given = *body
	}
	return given
}
