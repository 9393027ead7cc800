package metrics

// A Group is the runs of one experiment on several targets.
type Group struct {
	ID     string
	Shared []*Summary // of the targets loaded together, on one clock
	Solo   []*Summary // of the targets loaded alone, as far as they were
}

// Groups are those that the runs belong to, in the order of their first ones.
// Runs on a single target belong to none.
func Groups(sums []*Summary) []Group {
	var groups []Group
	at := map[string]int{}
	for _, s := range sums {
		id := s.Header.Group
		if id == "" {
			continue
		}
		if _, known := at[id]; !known {
			at[id] = len(groups)
			groups = append(groups, Group{ID: id})
		}
		g := &groups[at[id]]
		if s.Header.Solo {
			g.Solo = append(g.Solo, s)
		} else {
			g.Shared = append(g.Shared, s)
		}
	}
	return groups
}
