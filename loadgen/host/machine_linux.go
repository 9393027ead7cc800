package host

import "os"

// ReadMachineCPU reads what the machine's CPUs did so far.
func ReadMachineCPU() MachineCPU {
	f, err := os.Open("/proc/stat")
	if err != nil {
		return MachineCPU{}
	}
	defer f.Close()
	return parseMachineCPU(f)
}
