package report

import "slices"

// cell is one cell of a table. Its first bytes, as many as painted says, have a colour.
type cell struct {
	text    string
	paint   paint
	painted int
}

// row is a row of plain cells.
func row(texts ...string) []cell {
	cells := make([]cell, len(texts))
	for i, text := range texts {
		cells[i].text = text
	}
	return cells
}

// table writes rows of equal length, the head first, in columns that are as wide as they must be; those of the list
// right are aligned to the right. An empty cell shows as a dash.
func (p *printer) table(rows [][]cell, right ...int) {
	widths := make([]int, len(rows[0]))
	for _, cells := range rows {
		for i := range cells {
			if cells[i].text == "" {
				cells[i].text = "-"
			}
			widths[i] = max(widths[i], textColumns(cells[i].text))
		}
	}
	for _, cells := range rows {
		for i, c := range cells {
			if i > 0 {
				p.raw("  ")
			}
			room := widths[i] - textColumns(c.text)
			toRight := slices.Contains(right, i)
			if toRight {
				p.buf = appendSpaces(p.buf, room)
			}
			if c.painted > 0 {
				p.painted(c.paint, c.text[:c.painted])
			}
			p.esc(c.text[c.painted:])
			if !toRight && i < len(cells)-1 { // nothing follows on the last
				p.buf = appendSpaces(p.buf, room)
			}
		}
		p.raw("\n")
		p.spill()
	}
}
