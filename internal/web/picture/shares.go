package picture

// byProgress lists the states that n counts as progress reads: what is done
// first, then what runs, then what is still to come.
func byProgress(n map[State]int) []State {
	var out []State
	for _, s := range []State{Done, Failed, Running, Available, Pending, Skipped, Canceled} {
		if n[s] > 0 {
			out = append(out, s)
		}
	}
	for _, s := range sorted(n) {
		if s.rank() == len(States) {
			out = append(out, s)
		}
	}
	return out
}

// segments draws shares of states as one bar with a gap between them. A state
// that somebody has to look at keeps at least a visible sliver.
func (c *canvas) segments(x, y, w, h, least, gap float64, n map[State]int) {
	states := byProgress(n)
	parts := make([]float64, len(states))
	for i, s := range states {
		parts[i] = float64(n[s])
	}
	for i, width := range shares(parts, w+gap, min(least, w/float64(max(len(states), 1)))) {
		c.leaf("rect", "class", "pic-fill "+states[i].look().class, "x", x, "y", y, "width", max(width-gap, 0.5), "height", h)
		x += width
	}
}

// shares divides w by parts, giving each at least least.
func shares(parts []float64, w, least float64) []float64 {
	out := make([]float64, len(parts))
	sum := 0.0
	for _, p := range parts {
		sum += max(p, 0)
	}
	if sum <= 0 {
		return out
	}
	// Small parts get their least; the rest share what is left by size.
	room, rest := w, sum
	for again := true; again; {
		again = false
		for i, p := range parts {
			if out[i] == 0 && max(p, 0)/rest*room < least {
				out[i] = least
				room -= least
				rest -= max(p, 0)
				again = true
			}
		}
	}
	for i, p := range parts {
		if out[i] == 0 && rest > 0 {
			out[i] = max(p, 0) / rest * room
		}
	}
	return out
}
