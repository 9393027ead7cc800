package main

// A platform is a system and an architecture that servebench is built for.
type platform struct {
	os, arch string // as Go names them
	wheel    string // where pip installs it: the platform tags of the wheel
}

func (p platform) String() string { return p.os + "/" + p.arch }

// program is the name of the binary.
func (p platform) program() string {
	if p.os == "windows" {
		return "servebench.exe"
	}
	return "servebench"
}

// platforms are what a release is built for. The binary for Linux needs no C library, so its
// wheel is for glibc and musl alike; 2.17 and 1.1 are the oldest versions that pip still
// knows by such names (PEP 600, PEP 656). macOS 12 is the oldest that Go 1.26 runs on
// (https://go.dev/doc/go1.26#darwin).
var platforms = []platform{
	{"linux", "amd64", "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64"},
	{"linux", "arm64", "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64"},
	{"darwin", "arm64", "macosx_12_0_arm64"},
	{"darwin", "amd64", "macosx_12_0_x86_64"},
	{"windows", "amd64", "win_amd64"},
}
