package picture

// path collects the data of a <path>.
type path struct{ b []byte }

func (p *path) add(op byte, values ...float64) *path {
	p.b = append(p.b, op)
	for i, v := range values {
		if i > 0 {
			p.b = append(p.b, ' ')
		}
		p.b = appendNum(p.b, v)
	}
	return p
}

func (p *path) move(x, y float64) *path { return p.add('M', x, y) }
func (p *path) line(x, y float64) *path { return p.add('L', x, y) }
func (p *path) level(x float64) *path   { return p.add('H', x) }
func (p *path) plumb(y float64) *path   { return p.add('V', y) }

// curve bends to x, y by two handles.
func (p *path) curve(x1, y1, x2, y2, x, y float64) *path { return p.add('C', x1, y1, x2, y2, x, y) }

// raw adds data that is written out, such as the shape of an arrow.
func (p *path) raw(s string) *path {
	p.b = append(p.b, s...)
	return p
}

func (p *path) empty() bool    { return len(p.b) == 0 }
func (p *path) String() string { return string(p.b) }
