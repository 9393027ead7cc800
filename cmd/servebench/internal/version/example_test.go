package version_test

import (
	"fmt"

	"github.com/servebench/servebench/cmd/servebench/internal/version"
)

// A program that neither make nor go install built has no version.
func Example() {
	fmt.Println(version.Number())
	// Output: devel
}
