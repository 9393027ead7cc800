package metrics

// An Ask is what a report is to hold whatever the run itself was asked for. Its
// zero value leaves everything as the run had it.
type Ask struct {
	Metrics     []string  // --percentile-metrics
	Percentiles []float64 // --metric-percentiles
	Goodput     []SLO     // --goodput
	Outcomes    bool      // keep Outcomes, for a detailed result file
	Lastings    bool      // keep Lastings, for any result file
	Trace       bool      // keep the Trace, which runs of a Group have in any case

	// Definitions are those to count by, where the stream has single requests;
	// empty for those of the run.
	Definitions Definitions
}

// header is h under the ask; h itself is left alone.
func (a Ask) header(h *Header) *Header {
	asked := *h
	if a.Metrics != nil {
		asked.Config.Metrics = a.Metrics
	}
	if a.Percentiles != nil {
		asked.Config.Percentiles = a.Percentiles
	}
	if a.Goodput != nil {
		asked.Config.Goodput = a.Goodput
	}
	return &asked
}
