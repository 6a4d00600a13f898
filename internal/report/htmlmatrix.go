package report

import "strings"

// htmlMatrix is who hands requests to whom, as a picture and as a table.
type htmlMatrix struct {
	Caption string
	Picture *matrixPicture
	Table   *htmlTable
	Reasons []matrixReason
}

type matrixReason struct{ Verdict, Who, Why string }

// matrixPicture is a drawing. All lengths are in pixels.
type matrixPicture struct {
	ID, Title, Description string
	Width, Height          int
	CellWidth, CellHeight  int
	Texts                  []matrixText
	Cells                  []matrixCell
}

type matrixText struct {
	Class, Text, Anchor string
	X, Y                int
}

type matrixCell struct {
	Class, Word string
	X, Y        int
}

const (
	matrixCellWidth, matrixCellHeight = 72, 32
	matrixGap                         = 6
	matrixLetter                      = 7.3 // the width of a letter of a name
	matrixNameColumns                 = 20
)

// newHTMLMatrix draws the pairs. Of more servers than one can take in it has only the reasons.
func newHTMLMatrix(id, caption string, names []string, pairs []ProbePair) *htmlMatrix {
	m := &htmlMatrix{Caption: caption}
	for _, g := range groupPairs(len(names), pairs) {
		verdict := g.verdict
		if verdict == "?" {
			verdict = "unknown"
		}
		m.Reasons = append(m.Reasons, matrixReason{verdict, g.who(), strings.Join(g.reasons, "; ")})
	}
	if len(names) > maxMatrix {
		yes := 0
		for i := range pairs {
			if pairs[i].Verdict == "yes" {
				yes++
			}
		}
		m.Caption += ": " + countOf(yes, "pair") + " of " + countOf(len(pairs), "pair")
		return m
	}
	verdicts := pairVerdicts(pairs)
	m.Table = &htmlTable{Caption: "From the server of the row to the server of the column", Head: append([]string{"from \\ to"}, names...)}
	widest := textColumns("from")
	short := make([]string, len(names))
	for i, name := range names {
		short[i] = clip(name, matrixNameColumns)
		widest = max(widest, textColumns(short[i]))
	}
	left := int(float64(widest)*matrixLetter) + 16
	cellWidth := matrixCellWidth
	for _, name := range short {
		cellWidth = max(cellWidth, int(float64(textColumns(name))*matrixLetter))
	}
	const top = 44
	p := &matrixPicture{
		ID: id, Title: caption, CellWidth: cellWidth, CellHeight: matrixCellHeight,
		Width: left + len(names)*(cellWidth+matrixGap), Height: top + len(names)*(matrixCellHeight+matrixGap),
	}
	p.Texts = append(p.Texts, matrixText{"axis", "from", "", 0, top - 8}, matrixText{"axis", "to", "", left, 14})
	var says []string
	for i, from := range names {
		y := top + i*(matrixCellHeight+matrixGap)
		p.Texts = append(p.Texts, matrixText{"node", short[i], "", 0, y + 20},
			matrixText{"node", short[i], "middle", left + i*(cellWidth+matrixGap) + cellWidth/2, top - 8})
		row := htmlCells(from)
		for k, to := range names {
			cell := matrixCell{Class: "self", X: left + k*(cellWidth+matrixGap), Y: y}
			text := unknown
			if i != k {
				cell.Class, text = pairClass(verdicts[[2]string{from, to}])
				cell.Word = text
				if text == "unknown" {
					cell.Word = "?"
				}
				says = append(says, from+" to "+to+": "+text)
			}
			p.Cells = append(p.Cells, cell)
			row = append(row, htmlCell{Text: text, Class: cell.Class})
		}
		m.Table.Rows = append(m.Table.Rows, row)
	}
	p.Description = strings.Join(says, "; ") + "."
	m.Picture = p
	return m
}

func pairClass(verdict string) (class, text string) {
	switch verdict {
	case "yes":
		return "good", "yes"
	case "no":
		return "bad", "no"
	}
	return "unsure", "unknown"
}
