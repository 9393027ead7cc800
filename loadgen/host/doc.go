// Package host reports what this machine did during a run.
//
// A Pulse watches this process: how late it woke up, how much of its cores it used, and how long
// garbage collections stopped it. A Watch keeps the samples of a Sampler, which asks a server or
// the GPUs at an interval; NvidiaSMI is a Sampler for the GPUs of this machine. ReadMachineCPU and
// Clock ask the operating system for the use of its CPUs and for the error of its clock. What a
// system does not report is zero.
package host
