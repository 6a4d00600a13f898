package report

// Write writes a report that is at hand as a whole.
func Write(w Writer, r Report) error {
	for _, c := range r.Clusters {
		if err := w.Cluster(c); err != nil {
			return err
		}
	}
	for _, e := range r.Errors {
		if err := w.InputError(e); err != nil {
			return err
		}
	}
	for _, p := range r.PassedOver {
		if err := w.PassedOver(p); err != nil {
			return err
		}
	}
	return w.Close(r.Summary)
}
