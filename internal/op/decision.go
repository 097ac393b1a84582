package op

// DecisionBody holds the reason of a decision. The subject is known from the call.
type DecisionBody struct {
	Reason string `json:"reason,omitempty" maxLength:"1000" doc:"For people; goes to the timeline."`
}

// Given returns an optional body, or its zero value if it was left out.
func Given[T any](body *T) (given T) {
	if body != nil {
		given = *body
	}
	return given
}
