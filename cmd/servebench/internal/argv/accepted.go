package argv

import "github.com/spf13/pflag"

// accepted are the flags that a command accepts: the ones that it sets, and the Other ones.
type accepted struct{ flags *Flags }

// find is Find, also among the Other flags.
func (a accepted) find(option string) []*pflag.Flag {
	if a.flags.Other == nil || a.flags.lookup(Dashed(option)) != nil {
		return a.flags.Find(option)
	}
	if flag := a.flags.Other.lookup(Dashed(option)); flag != nil {
		return []*pflag.Flag{flag}
	}
	found := a.flags.Find(option)
	for _, flag := range a.flags.Other.Find(option) {
		if a.flags.FlagSet.Lookup(flag.Name) == nil {
			found = append(found, flag)
		}
	}
	return found
}

// own says whether a flag is not one of the Other ones.
func (a accepted) own(flag *pflag.Flag) bool { return a.flags.FlagSet.Lookup(flag.Name) == flag }

// all are all flags, and the flags of Other with other names.
func (a accepted) all() []*pflag.Flag {
	flags := a.flags.all()
	if a.flags.Other == nil {
		return flags
	}
	for _, flag := range a.flags.Other.all() {
		if a.flags.FlagSet.Lookup(flag.Name) == nil {
			flags = append(flags, flag)
		}
	}
	return flags
}
