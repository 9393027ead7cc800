// Package host reports what this machine did during a run.
//
// A Pulse watches this process: how late it woke up, how much of its cores it used, and how long
// garbage collections stopped it. NvidiaSMI and KVCached have a watch.Sampler for the GPUs of this
// machine and for a pool of memory. ReadMachineCPU and Clock ask the operating system for the use of
// its CPUs and for the error of its clock. What a system does not report is zero.
package host
