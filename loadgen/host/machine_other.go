//go:build !linux

package host

// ReadMachineCPU is unknown on this system.
func ReadMachineCPU() MachineCPU { return MachineCPU{} }
