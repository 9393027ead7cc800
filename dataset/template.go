package dataset

// A Template renders a prompt, as the only message of a user, into the text that a
// model is to complete. It must be safe for concurrent use.
type Template func(prompt string) (string, error)
