package sweep

import (
	"regexp"

	"go.yaml.in/yaml/v3"
)

// Needs are what servers and scripts need and no command says, for package preflight. A sweep does not
// look at them.
type Needs struct {
	Programs []string // names, or paths from the folder of the file
	Python   []string // modules of the Python that scripts use
	VLLM     VLLMNeeds
	GPU      GPUNeeds
}

// VLLMNeeds are the releases of vLLM that will do, such as 0.33; empty for any.
type VLLMNeeds struct {
	From  string // the oldest one
	Below string // the first one that is too new
}

// GPUNeeds is the least that the GPU has to have; 0 for anything.
type GPUNeeds struct {
	Memory float64 // 10⁹ bytes
	SMs    int
	Driver int // its first number
}

// read reads the needs of a file or of an arm.
func (n *Needs) read(node *yaml.Node) error {
	return fields(node, "needs", map[string]any{
		"programs": &n.Programs, "python": n.modules, "vllm": n.VLLM.read, "gpu": n.GPU.read,
	})
}

var (
	moduleName = regexp.MustCompile(`^\w+(\.\w+)*$`)
	release    = regexp.MustCompile(`^\d+(\.\d+)*$`)
)

// modules reads the names of modules. A package with its version, as pip takes it, is none.
func (n *Needs) modules(node *yaml.Node) error {
	if node.Tag == "!!null" || node.Decode(&n.Python) != nil {
		return at(node, "python must be a list of texts")
	}
	for _, name := range n.Python {
		if !moduleName.MatchString(name) {
			return at(node, "python: %q is not the name of a module, such as torch", name)
		}
	}
	return nil
}

func (v *VLLMNeeds) read(node *yaml.Node) error {
	if err := fields(node, "vllm", map[string]any{"from": &v.From, "below": &v.Below}); err != nil {
		return err
	}
	for _, number := range []string{v.From, v.Below} {
		if number != "" && !release.MatchString(number) {
			return at(node, "vllm: %q is not a release, such as 0.33", number)
		}
	}
	return nil
}

func (g *GPUNeeds) read(node *yaml.Node) error {
	return fields(node, "gpu", map[string]any{"memory": &g.Memory, "sms": &g.SMs, "driver": &g.Driver})
}
