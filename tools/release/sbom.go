package main

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// A component is one thing in a bill of materials: https://cyclonedx.org/docs/1.6/json.
type component struct {
	Ref      string              `json:"bom-ref"`
	Type     string              `json:"type"`
	Name     string              `json:"name"`
	Version  string              `json:"version"`
	Hashes   []map[string]string `json:"hashes,omitempty"`
	Licenses []map[string]any    `json:"licenses,omitempty"`
	PURL     string              `json:"purl"`
}

// bill is the bill of materials in CycloneDX's JSON: the modules in the build information, and the
// JavaScript of the HTML reports.
func (r *release) bill(b *build) artifact {
	program := library("golang", b.info.Main.Path, r.version.described)
	program.Type, program.Name = "application", "servebench"
	program.Licenses = []map[string]any{{"license": map[string]string{"id": "Apache-2.0"}}}
	sum := sha256.Sum256(b.binary)
	program.Hashes = []map[string]string{{"alg": "SHA-256", "content": hex.EncodeToString(sum[:])}}
	parts := []component{library("golang", "std", strings.TrimPrefix(b.info.GoVersion, "go"))}
	for _, module := range b.info.Deps {
		m := cmp.Or(module.Replace, module)
		part := library("golang", m.Path, m.Version)
		if sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(m.Sum, "h1:")); err == nil && len(sum) > 0 {
			part.Hashes = []map[string]string{{"alg": "SHA-256", "content": hex.EncodeToString(sum)}}
		}
		parts = append(parts, part)
	}
	parts = append(parts, uPlot(b.papers))
	refs := make([]string, len(parts))
	for i, p := range parts {
		refs[i] = p.Ref
	}
	text, err := json.MarshalIndent(map[string]any{
		"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
		"metadata": map[string]any{
			"timestamp": r.time, "component": program,
			"properties": []map[string]string{{"name": "platform", "value": b.platform.String()}},
		},
		"components":   parts,
		"dependencies": []map[string]any{{"ref": program.Ref, "dependsOn": refs}},
	}, "", "  ")
	must(err)
	return artifact{fmt.Sprintf("servebench-%s-%s-%s.cdx.json", r.version.number, b.os, b.arch), append(text, '\n')}
}

// library is a component of the kind of package that purl, the package URL, names.
func library(kind, name, version string) component {
	purl := fmt.Sprintf("pkg:%s/%s@%s", kind, name, version)
	return component{Ref: purl, Type: "library", Name: name, Version: version, PURL: purl}
}

// uPlot is the only component that is not a Go module. Its version is in the notices.
func uPlot(papers []file) component {
	for _, p := range papers {
		if m := uPlotVersion.FindSubmatch(p.data); m != nil && p.name == noticesName {
			return library("npm", "uplot", string(m[1]))
		}
	}
	panic(noticesName + " does not name the version of uPlot")
}

var uPlotVersion = regexp.MustCompile(`(?m)^uPlot (\d+\.\d+\.\d+),`)
