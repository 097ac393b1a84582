package picture

// empty is a sentence in the place of a picture that has no data: an empty
// box would leave people guessing whether something is broken.
func empty(sentence string) SVG {
	var c canvas
	c.open("p", "class", "pic-empty")
	c.b.WriteString(escape(sentence))
	c.b.WriteString("</p>")
	return SVG(c.b.String())
}

func orTitle(title, instead string) string {
	if title == "" {
		return instead
	}
	return title
}
