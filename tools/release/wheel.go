package main

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"
)

const (
	homepage = "https://github.com/servebench/servebench"
	summary  = "A load generator for LLM serving endpoints"
)

// wheel is a Python package with the binary among its scripts, so that pip puts it into the bin
// folder of an environment. It has no Python code:
// https://packaging.python.org/en/latest/specifications/binary-distribution-format.
func (r *release) wheel(b *build) artifact {
	stem := "servebench-" + r.version.python
	info := stem + ".dist-info/"
	files := []file{{stem + ".data/scripts/" + b.program(), 0o755, b.binary}}
	licences := ""
	for _, p := range b.papers {
		if p.name == "LICENSE" || p.name == noticesName {
			files = append(files, file{info + "licenses/" + p.name, 0o644, p.data})
			licences += "License-File: " + p.name + "\n"
		}
	}
	tags := ""
	for platform := range strings.SplitSeq(b.platform.wheel, ".") {
		tags += "Tag: py3-none-" + platform + "\n"
	}
	files = append(files,
		file{info + "METADATA", 0o644, fmt.Appendf(nil, metadata, r.version.python, summary, licences, homepage)},
		file{info + "WHEEL", 0o644, []byte("Wheel-Version: 1.0\nGenerator: servebench\nRoot-Is-Purelib: false\n" + tags)})
	files = append(files, file{info + "RECORD", 0o644, record(files, info+"RECORD")})
	return artifact{fmt.Sprintf("%s-py3-none-%s.whl", stem, b.platform.wheel), zipped(files, r.time)}
}

// metadata is the METADATA of the wheel:
// https://packaging.python.org/en/latest/specifications/core-metadata.
const metadata = `Metadata-Version: 2.4
Name: servebench
Version: %[1]s
Summary: %[2]s
License-Expression: Apache-2.0
%[3]sProject-URL: Homepage, %[4]s
Project-URL: Changes, %[4]s/blob/main/CHANGELOG.md
Keywords: LLM,benchmark,load testing,vLLM,inference
Classifier: Environment :: Console
Classifier: Topic :: System :: Benchmark
Requires-Python: >=3
Description-Content-Type: text/markdown

servebench measures LLM serving endpoints. It takes the flags of ` + "`vllm bench serve`" + `, sends the
same workload and prints the same result block.

    servebench run --base-url http://127.0.0.1:8000

The package has one program for each platform and no Python code. The documentation is at
<%[4]s>.
`

// record is the RECORD of a wheel's files: the hash and the size of each but its own.
func record(files []file, own string) []byte {
	var text []byte
	for _, f := range files {
		sum := sha256.Sum256(f.data)
		text = fmt.Appendf(text, "%s,sha256=%s,%d\n", f.name, base64.RawURLEncoding.EncodeToString(sum[:]), len(f.data))
	}
	return fmt.Appendf(text, "%s,,\n", own)
}
