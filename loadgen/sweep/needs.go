package sweep

import (
	"regexp"

	"go.yaml.in/yaml/v3"
)

// Needs are what servers and scripts need and no command says, for package preflight. A sweep does not
// look at them.
type Needs struct {
	Programs []string  `yaml:"programs"` // names, or paths from the folder of the file
	Python   Modules   `yaml:"python"`   // of the Python that scripts use
	VLLM     VLLMNeeds `yaml:"vllm"`
	GPU      GPUNeeds  `yaml:"gpu"`
}

// Modules are names of Python modules. A package with its version, as pip takes it, is none.
type Modules []string

var moduleName = regexp.MustCompile(`^\w+(\.\w+)*$`)

// UnmarshalYAML reads a list of names.
func (m *Modules) UnmarshalYAML(node *yaml.Node) error {
	if node.Tag == "!!null" || node.Decode((*[]string)(m)) != nil {
		return at(node, "python must be a list of texts")
	}
	for _, name := range *m {
		if !moduleName.MatchString(name) {
			return at(node, "python: %q is not the name of a module, such as torch", name)
		}
	}
	return nil
}

// VLLMNeeds are the releases of vLLM that will do, such as 0.33; empty for any.
type VLLMNeeds struct {
	From  string `yaml:"from"`  // the oldest one
	Below string `yaml:"below"` // the first one that is too new
}

var release = regexp.MustCompile(`^\d+(\.\d+)*$`)

// UnmarshalYAML reads releases as the file spells them: 0.30 is not 0.3.
func (v *VLLMNeeds) UnmarshalYAML(node *yaml.Node) error {
	if err := fields(node, "vllm", v); err != nil {
		return err
	}
	for _, number := range []string{v.From, v.Below} {
		if number != "" && !release.MatchString(number) {
			return at(node, "vllm: %q is not a release, such as 0.33", number)
		}
	}
	return nil
}

// GPUNeeds is the least that the GPU has to have; 0 for anything.
type GPUNeeds struct {
	Memory float64 `yaml:"memory"` // 10⁹ bytes
	SMs    int     `yaml:"sms"`
	Driver int     `yaml:"driver"` // its first number
}
