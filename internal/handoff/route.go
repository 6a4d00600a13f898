package handoff

// Outcome is what becomes of a request for a resource that a server does not have itself.
type Outcome string

// The outcomes. HandedOff: a peer answers it. NotFound is a false 404: a server that runs has the resource. Unavailable
// is a 503: the server knows a peer that has it, and that peer cannot be reached (H10). Unserved is a true 404: no
// server that runs has it. Refused: a peer gets the request and answers 401 or 403, as it takes the sender for the
// client; only requests show that. Unsure: no fact decides.
const (
	HandedOff   Outcome = "handed-off"
	NotFound    Outcome = "false-404"
	Unavailable Outcome = "unavailable"
	Unserved    Outcome = "unserved"
	Refused     Outcome = "refused"
	Unsure      Outcome = "unknown"
)

// Holder is a peer that has the resource, as the server sees it that lacks it.
type Holder struct {
	// Handed is the verdict of Judge from the server to this peer.
	Handed Answer
	// Up: the peer runs. Remembered: it does not, and the server still offers what it has read of it while it did.
	Up, Remembered bool
}

// OutcomeOf tells what becomes of a request to a server that lacks a resource. subresource: it lacks one of a resource
// that it has; such requests are never handed off, whatever the servers are set to (MVP518).
func OutcomeOf(subresource bool, holders []Holder) Outcome {
	up, unsure, remembered := 0, false, false
	handed := false
	for _, h := range holders {
		switch {
		case !h.Up:
			remembered = remembered || h.Remembered && h.Handed == Yes
			unsure = unsure || h.Remembered && h.Handed == Unknown
			continue
		case h.Handed == Yes:
			handed = true
		case h.Handed == Unknown:
			unsure = true
		}
		up++
	}
	switch {
	case subresource && up > 0:
		return NotFound
	case subresource:
		return Unserved
	case handed:
		return HandedOff
	case unsure:
		return Unsure
	case remembered:
		return Unavailable
	case up > 0:
		return NotFound
	}
	return Unserved
}
