package op

// DecisionBody says why. Who is known.
type DecisionBody struct {
	Reason string `json:"reason,omitempty" maxLength:"1000" doc:"For people; goes to the timeline."`
}

// Said is the reason, of a body that may have been left out.
func (b *DecisionBody) Said() string {
	if b == nil {
		return ""
	}
	return b.Reason
}
