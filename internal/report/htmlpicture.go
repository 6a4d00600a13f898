package report

import (
	"fmt"
	"strings"
)

// The pictures are drawings; all lengths are in pixels.

// htmlMatrix is who hands requests to whom, as a picture and as a table.
type htmlMatrix struct {
	Caption Text
	Picture *matrixPicture
	Table   *htmlTable
	Reasons []matrixReason
	Crashes []Text
}

type matrixReason struct {
	Verdict  string
	Who, Why Text
}

type matrixPicture struct {
	Title, Description    Text
	Width, Height         int
	CellWidth, CellHeight int
	Texts                 []pictureText
	Cells                 []matrixCell
}

type pictureText struct {
	Class  string
	Text   Text
	Anchor string
	X, Y   int
}

type matrixCell struct {
	Class, Word string
	X, Y        int
}

const (
	matrixCellWidth, matrixCellHeight = 72, 32
	matrixGap                         = 6
	matrixTop                         = 44
	matrixLetter                      = 7.3 // the width of a letter of a name
	matrixNameColumns                 = 20
)

// newHTMLMatrix draws the pairs. Of more servers than one can take in it has only the reasons.
func newHTMLMatrix(m *Matrix) *htmlMatrix {
	out := &htmlMatrix{
		Caption: "Which server hands requests to which, when it does not have the resource itself", Crashes: m.Crashes,
	}
	if m.When != "" {
		out.Caption = "Where it first matters, as configured: " + m.When
	}
	for i := range m.Reasons {
		r := &m.Reasons[i]
		verdict := strings.ReplaceAll(r.Verdict, "?", "unknown")
		out.Reasons = append(out.Reasons, matrixReason{verdict, r.who(), join(r.Why, "; ")})
	}
	if m.Verdicts == nil {
		out.Caption += Text(": " + countOf(m.Yes, "pair") + " of " + countOf(m.Of, "pair"))
		return out
	}
	out.Table = &htmlTable{
		Caption: "From the server of the row to the server of the column", Head: append([]Text{"from \\ to"}, m.Names...),
	}
	out.draw(m)
	return out
}

// draw makes the picture and the rows of the table.
func (h *htmlMatrix) draw(m *Matrix) {
	widest, cellWidth := textColumns("from"), matrixCellWidth
	short := make([]Text, len(m.Names))
	for i, name := range m.Names {
		short[i] = clip(name, matrixNameColumns)
		n := textColumns(string(short[i]))
		widest, cellWidth = max(widest, n), max(cellWidth, int(float64(n)*matrixLetter))
	}
	left := int(float64(widest)*matrixLetter) + 16
	p := &matrixPicture{
		Title: h.Caption, CellWidth: cellWidth, CellHeight: matrixCellHeight,
		Width: left + len(m.Names)*(cellWidth+matrixGap), Height: matrixTop + len(m.Names)*(matrixCellHeight+matrixGap),
	}
	p.Texts = append(p.Texts, pictureText{"axis", "from", "", 0, matrixTop - 8}, pictureText{"axis", "to", "", left, 14})
	var says []Text
	for i, from := range m.Names {
		y := matrixTop + i*(matrixCellHeight+matrixGap)
		p.Texts = append(p.Texts, pictureText{"node", short[i], "", 0, y + 20},
			pictureText{"node", short[i], "middle", left + i*(cellWidth+matrixGap) + cellWidth/2, matrixTop - 8})
		row := htmlCells(from)
		for k, to := range m.Names {
			cell := matrixCell{Class: "self", X: left + k*(cellWidth+matrixGap), Y: y}
			text := Text(unknown)
			if i != k {
				cell.Word = m.Verdicts[i][k]
				cell.Class, text = pairClass(cell.Word)
				says = append(says, from+" to "+to+": "+text)
			}
			p.Cells = append(p.Cells, cell)
			row = append(row, htmlCell{Text: text, Class: cell.Class})
		}
		h.Table.Rows = append(h.Table.Rows, row)
	}
	p.Description = join(says, "; ") + "."
	h.Picture = p
}

func pairClass(verdict string) (class string, text Text) {
	switch verdict {
	case "yes":
		return "good", "yes"
	case "no":
		return "bad", "no"
	}
	return "unsure", "unknown"
}

// htmlSteps are the steps of a roll, drawn and as tables.
type htmlSteps struct {
	Pictures    []*rollPicture
	Wide        bool // the pictures do not fit beside each other
	Table       *htmlTable
	Stopped     []Fact
	NotStarting NotStarting
}

func newHTMLSteps(s *Steps, notStarting NotStarting) *htmlSteps {
	out := &htmlSteps{Table: newHTMLTable(&s.Table), Stopped: s.Stopped, NotStarting: notStarting}
	for i := range s.Rolls {
		out.Wide = len(s.Rolls[i].Nodes) > 4
		out.Pictures = append(out.Pictures, newRollPicture(i+1, &s.Rolls[i]))
	}
	return out
}

// rollPicture is a roll as a picture: a row a step, a column a node.
type rollPicture struct {
	ID, Caption, Title string
	Description        Text
	Width, Height      int
	Columns            []pictureText
	Rows               []pictureRow
	// Table is the same to read.
	Table *htmlTable
}

type pictureRow struct {
	Y     int
	Label Text
	// Absent is said in place of boxes where the roll has no such step.
	Absent string
	Boxes  []pictureBox
	Arrows []pictureArrow
}

// pictureBox is a server.
type pictureBox struct {
	RollBox
	X, Width, Middle int
}

// pictureArrow leads from a server to the one that has what it lacks; a sign stands in its middle, at X and Y.
type pictureArrow struct {
	Class      Tone
	Line, Head string
	X, Y       int
}

const (
	rollBoxWidth  = 100
	rollGap       = 10
	rollBoxBottom = 70 // of the boxes of a row, below its top
	rollArrowRoom = 34 // below boxes with arrows
	rollRowGap    = 14
	rollTop       = 26
	rollLetter    = 9 // the width of a letter of a label, in a wide font
	rollArrows    = 5 // nodes up to which arrows are drawn; of more one sees nothing
)

func newRollPicture(number int, r *Roll) *rollPicture {
	p := &rollPicture{
		ID: fmt.Sprintf("roll-%d", number), Caption: r.Caption, Description: r.Says,
		Title: "The roll: " + strings.ToLower(r.Caption[:1]) + r.Caption[1:],
		Width: max(len(r.Nodes)*(rollBoxWidth+rollGap)-rollGap, 300), // at least for the words
		Table: &htmlTable{Caption: r.Caption, Head: append([]Text{"Step"}, r.Nodes...)},
	}
	for i, node := range r.Nodes {
		p.Columns = append(p.Columns, pictureText{Text: clip(node, 14), X: i*(rollBoxWidth+rollGap) + rollBoxWidth/2, Y: 14})
	}
	y := rollTop
	arrows := len(r.Nodes) <= rollArrows
	for _, row := range r.Rows {
		out := pictureRow{Y: y, Label: clip(row.Label, p.Width/rollLetter)}
		cells := htmlCells(row.Label)
		if row.Boxes == nil {
			out.Absent = "no such step"
			cells = append(cells, htmlCells(make([]Text, len(r.Nodes))...)...)
		}
		for i, b := range row.Boxes {
			b.Release = clip(b.Release, 13)
			out.Boxes = append(out.Boxes, pictureBox{b, i * (rollBoxWidth + rollGap), rollBoxWidth - 2, rollBoxWidth / 2})
			cells = append(cells, htmlCell{Text: b.Release + ": " + b.State, Class: boxCellClass(b.Class)})
		}
		if arrows {
			for _, a := range row.Arrows {
				out.Arrows = append(out.Arrows, newPictureArrow(a))
			}
		}
		p.Rows = append(p.Rows, out)
		p.Table.Rows = append(p.Table.Rows, cells)
		y += rollBoxBottom + rollRowGap
		if arrows && row.Crossed {
			y += rollArrowRoom
		}
	}
	p.Height = y
	return p
}

func boxCellClass(class string) string {
	if class == "good" || class == "bad" || class == "unsure" {
		return class
	}
	return ""
}

// newPictureArrow is an arc below the boxes. It ends beside the middle of a box, so that two do not meet.
func newPictureArrow(a RollArrow) pictureArrow {
	const aside = 16
	side := aside
	if a.To < a.From {
		side = -aside
	}
	x1 := a.From*(rollBoxWidth+rollGap) + rollBoxWidth/2 + side
	x2 := a.To*(rollBoxWidth+rollGap) + rollBoxWidth/2 - side
	top, deep := rollBoxBottom, rollBoxBottom+16+10*distance(a.From, a.To)
	if distance(a.From, a.To) > 2 {
		deep = rollBoxBottom + 36
	}
	// The curve's middle is at three quarters of the depth of its handles.
	x, y := (x1+x2)/2, top+(deep-top)*3/4
	return pictureArrow{
		Class: a.Tone,
		Line:  fmt.Sprintf("M%d %dC%d %d %d %d %d %d", x1, top, x1, deep, x2, deep, x2, top+6),
		Head:  fmt.Sprintf("M%d %dl-5 9h10z", x2, top-1),
		X:     x, Y: y,
	}
}
