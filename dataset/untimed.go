package dataset

// Untimed is src without due times of its own.
func Untimed(src Source) Source {
	return func(yield func(*Conversation, error) bool) {
		for c, err := range src {
			if err == nil {
				untimed := *c
				untimed.Due = nil
				c = &untimed
			}
			if !yield(c, err) {
				return
			}
		}
	}
}
