// Package host tells what this machine did while a run went on.
//
// A Pulse watches this process: how late it woke up, how much of its cores it used,
// and how long garbage collections stopped it. A Watch keeps the answers of a Sampler,
// which asks a server or the GPUs every so often; NvidiaSMI is one for the GPUs of this
// machine. ReadMachineCPU and Clock ask the operating system for the use of its CPUs
// and for the error of its clock. What a system does not tell is zero.
package host
