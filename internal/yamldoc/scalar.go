package yamldoc

import "strings"

// setScalar gives a scalar another string as its value, in the style of the old one.
func (e *edit) setScalar(v *Value, text string) error {
	if v.Kind == List || v.Kind == Map {
		return refuse(v, "%s is %s, not a string", v.Path(), v.Kind)
	}
	block := v.Style == Literal || v.Style == Folded
	if block || v.Kind == String && !e.sameLine(v.Start, v.End) {
		if part, ok := e.splice(v, text); ok {
			e.has(replaced, PathTo(v), text)
			e.edits = []Edit{part}
			return nil
		}
		if block {
			return refuse(v, "the value is a %s scalar, whose lines are not written anew", v.Style)
		}
	}
	style := v.Style
	if v.Kind != String {
		style = e.siblingHabit(v)
	}
	return e.replaceScalar(v, text, style)
}

// quoteScalar makes a string of a scalar that YAML reads as something else.
func (e *edit) quoteScalar(v *Value, text string) error {
	if v.Kind == List || v.Kind == Map || v.Style == Literal || v.Style == Folded {
		return refuse(v, "%s is no plain scalar", v.Path())
	}
	style := e.siblingHabit(v)
	if style == Plain {
		style = e.quotesOfDocument()
	}
	return e.replaceScalar(v, text, style)
}

// replaceScalar puts a text where a scalar stands; behind a colon or dash with nothing behind it, a blank goes in
// front.
func (e *edit) replaceScalar(v *Value, text string, style Style) error {
	spelt, err := spelling{style: style, flow: inFlow(v), json: e.json}.spell(text)
	if v.Start == v.End && v.Start > e.doc.Start && (e.src[v.Start-1] == ':' || e.src[v.Start-1] == '-') {
		spelt = " " + spelt
	}
	e.put(v.Start, v.End, spelt)
	e.has(replaced, PathTo(v), text)
	return err
}

// siblingHabit is how the values beside a value are quoted where they need not be.
func (l *layout) siblingHabit(v *Value) Style {
	parent := v.Parent()
	if parent == nil {
		return Plain
	}
	// The values of a list of arguments are the siblings, not the name beside the value.
	if e := v.Entry(); e != nil && parent.Parent() != nil && parent.Parent().Kind == List {
		return QuoteHabit(FieldValues(parent.Parent(), e.Key))
	}
	return QuoteHabit(children(parent))
}

// FieldValues returns the values of one key in each map of a list.
func FieldValues(list *Value, key string) []*Value {
	var values []*Value
	for _, item := range list.Items {
		if v := item.Get(key); v != nil {
			values = append(values, v)
		}
	}
	return values
}

// quotesOfDocument returns the kind of quotes that the document's strings have; double ones where there are none.
func (l *layout) quotesOfDocument() Style {
	single, double := 0, 0
	walk(l.doc.Root, func(v *Value) {
		switch v.Style {
		case SingleQuoted:
			single++
		case DoubleQuoted:
			double++
		}
	})
	if single > double {
		return SingleQuoted
	}
	return DoubleQuoted
}

// splice changes a scalar of several lines without touching its lines otherwise: by text within one of them,
// or by the chomping indicator where only line breaks at the end go.
func (l *layout) splice(v *Value, text string) (Edit, bool) {
	block := v.Style == Literal || v.Style == Folded
	if block && text == strings.TrimRight(v.Text, "\n") {
		return l.strip(v)
	}
	prefix, old, inserted := difference(v.Text, text)
	if strings.ContainsAny(old+inserted, " \t\r\n") || strings.ContainsAny(old+inserted, `"'\`) {
		return Edit{}, false
	}
	body := v.Start
	switch {
	case block:
		body = l.nextLine(v.Start)
	case v.Style != Plain:
		if strings.ContainsAny(string(l.src[v.Start+1:v.End-1]), `\'"`) {
			return Edit{}, false
		}
		body++
	}
	start := behindInk(l.src, body, v.End, ink(prefix))
	// Blanks in front of the change: it belongs to the word behind them.
	if trimmed := strings.TrimRight(prefix, " \n"); trimmed != prefix && len(prefix) < len(v.Text) {
		for start < v.End && blank(l.src[start]) {
			start++
		}
	}
	end := start + len(old)
	if end > v.End || string(l.src[start:end]) != old {
		return Edit{}, false
	}
	return Edit{Start: start, End: end, New: []byte(inserted)}, true
}

// strip sets the chomping indicator of a block scalar to -.
func (l *layout) strip(v *Value) (Edit, bool) {
	header := l.restOfLine(v.Start)
	for i := 1; i < len(header) && header[i] != ' ' && header[i] != '#'; i++ {
		switch header[i] {
		case '+':
			return Edit{Start: v.Start + i, End: v.Start + i + 1, New: []byte("-")}, true
		case '-':
			return Edit{}, false
		}
	}
	return Edit{Start: v.Start + 1, End: v.Start + 1, New: []byte("-")}, true
}

// difference splits two texts into what they begin with, and what the old one and the new one have between
// that and what they end with.
func difference(a, b string) (prefix, old, inserted string) {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	m := 0
	for m < len(a)-n && m < len(b)-n && a[len(a)-1-m] == b[len(b)-1-m] {
		m++
	}
	return a[:n], a[n : len(a)-m], b[n : len(b)-m]
}

func blank(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// ink counts the bytes that are no white space.
func ink(s string) int {
	n := 0
	for i := range len(s) {
		if !blank(s[i]) {
			n++
		}
	}
	return n
}

// behindInk returns the offset behind the n-th byte that is no white space.
func behindInk(src []byte, pos, end, n int) int {
	for ; pos < end && n > 0; pos++ {
		if !blank(src[pos]) {
			n--
		}
	}
	return pos
}
