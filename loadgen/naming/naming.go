// Package naming has the names of settings in errors, warnings and remarks.
//
// A program in Go knows a setting as a field of a loadgen.Plan, such as Traffic.Duration. Users of a command know it as
// a flag. So a message is made with a Name, and the Spelling of its plan says how the Name is written. Where no plan is
// known, an Error keeps its Names until somebody spells it. Text of servers is never searched for names.
package naming

import (
	"errors"
	"strings"
)

// A Name is the name of a setting: the path of its field in a loadgen.Plan.
type Name string

// The settings that messages name.
const (
	Abort Name = "Abort"

	Backend       Name = "Server.Backend"
	Endpoint      Name = "Server.Endpoint"
	Model         Name = "Server.Model"
	Tokenizer     Name = "Server.Tokenizer"
	SkipTokenizer Name = "Server.SkipTokenizer"

	Dataset      Name = "Workload.Dataset"
	Path         Name = "Workload.Path"
	NumPrompts   Name = "Workload.NumPrompts"
	TokenIDs     Name = "Workload.TokenIDs"
	VocabSize    Name = "Workload.VocabSize"
	SkipTemplate Name = "Workload.SkipTemplate"
	Adapters     Name = "Workload.Adapters"
	From         Name = "Workload.Sessions.From"
	To           Name = "Workload.Sessions.To"
	GapCap       Name = "Workload.Sessions.GapCap"

	MaxConcurrency Name = "Traffic.MaxConcurrency"
	Curve          Name = "Traffic.Curve"
	Duration       Name = "Traffic.Duration"
	WarmUp         Name = "Traffic.WarmUp"
	Warm           Name = "Traffic.Warm"
	ProbeRate      Name = "Traffic.ProbeRate"
	SleepFirst     Name = "Traffic.SleepFirst"

	ExtraBody Name = "Sampling.ExtraBody"

	FirstByte Name = "Limits.FirstByte"
	Deadline  Name = "Limits.Deadline"

	ServerMetrics Name = "Watch.Server"
	GPU           Name = "Watch.GPU"
	Pool          Name = "Watch.Pool"

	Shard   Name = "Shard"
	StartAt Name = "Shard.StartAt"
	RunID   Name = "Shard.RunID"
)

// A Spelling says how a program writes names, such as its flags. Nil writes them as they are.
type Spelling map[Name]string

// Spell is a name as the program writes it.
func (s Spelling) Spell(n Name) string {
	if text, ok := s[n]; ok {
		return text
	}
	return string(n)
}

// Argument begins an error about the value of a setting. A flag's value is its argument.
func (s Spelling) Argument(n Name) string {
	text := s.Spell(n)
	if strings.HasPrefix(text, "-") {
		text = "argument " + text
	}
	return text
}

// Given is a name with its value: the argument of a flag, or the value of a field.
func (s Spelling) Given(n Name, argument, value string) string {
	text := s.Spell(n)
	if strings.HasPrefix(text, "-") {
		return text + " " + argument
	}
	return text + " = " + value
}

// SpellError is err with its names spelled, if err is an Error. Any other err is returned as it is, also one that wraps
// an Error: its text is complete.
func (s Spelling) SpellError(err error) error {
	if e, ok := err.(*Error); ok && s != nil {
		return errors.New(e.Text(s))
	}
	return err
}

// An Error names settings, and is made where nobody knows how the program spells them.
type Error struct {
	Text func(by Spelling) string
}

func (e *Error) Error() string { return e.Text(nil) }
