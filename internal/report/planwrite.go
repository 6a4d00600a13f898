package report

import "io"

// WritePlanJSON writes a plan as one JSON document.
func WritePlanJSON(out io.Writer, r *PlanReport) error {
	b, err := encode(r, "")
	if err != nil {
		return err
	}
	_, err = out.Write(append(b, '\n'))
	return err
}

// WritePlanYAML writes the document of WritePlanJSON as YAML, as WriteProbeYAML does.
func WritePlanYAML(out io.Writer, r *PlanReport) error { return writeTopYAML(out, r) }

// MarshalJSON writes a list that is nil as [], because readers of the report index these lists without asking.
func (r PlanReport) MarshalJSON() ([]byte, error) {
	type plain PlanReport
	r.APIVersion, r.Kind = APIVersion, KindPlan
	r.Order = orEmpty(r.Order)
	r.PlanRoll = r.PlanRoll.filled()
	if r.Patched != nil {
		p := *r.Patched
		p.Changes, p.PlanRoll = orEmpty(p.Changes), p.PlanRoll.filled()
		r.Patched = &p
	}
	if r.Unprepared != nil {
		u := r.Unprepared.filled()
		r.Unprepared = &u
	}
	r.Added, r.Removed = orEmpty(r.Added), orEmpty(r.Removed)
	r.Consequences = changed(r.Consequences, func(c *PlanConsequence) { c.Resources = orEmpty(c.Resources) })
	r.Findings = changed(r.Findings, func(f *Finding) { f.At = orEmpty(f.At) })
	return marshal(plain(r))
}

// filled is the roll without lists that are nil.
func (r PlanRoll) filled() PlanRoll {
	r.Steps = changed(r.Steps, func(s *PlanStep) {
		if s.Releases == nil {
			s.Releases = map[string]string{}
		}
		if s.Replacing != nil {
			m := s.Replacing.filled()
			s.Replacing = &m
		}
		s.PlanMoment = s.PlanMoment.filled()
		s.NotStarting = orEmpty(s.NotStarting)
	})
	return r
}

func (m PlanMoment) filled() PlanMoment {
	m.Pairs = changed(m.Pairs, func(p *ProbePair) { p.Reasons = orEmpty(p.Reasons) })
	for _, list := range []*[]PlanRoute{&m.FalseNotFound, &m.Unavailable, &m.HandedOff, &m.NotServed, &m.Unknown} {
		*list = changed(*list, func(r *PlanRoute) { r.ServedBy, r.Reasons = orEmpty(r.ServedBy), orEmpty(r.Reasons) })
	}
	m.Blind, m.Crashing = orEmpty(m.Blind), orEmpty(m.Crashing)
	return m
}
