package screen_test

import (
	"fmt"
	"os"

	"github.com/servebench/servebench/report/screen"
)

// Lay out a text in 40 columns, and write it without and with colours.
func Example() {
	lines := screen.Item(screen.Span{Text: "SUSPECT:", Tone: screen.Doubt}, 9, 40,
		screen.Span{Text: "other processes took 1.7 of 2 cores →"}, screen.Span{Text: "leave the machine to servebench", Tone: screen.Strong})
	screen.Screen{}.Write(os.Stdout, lines...)
	for _, span := range lines[1] {
		fmt.Printf("%q ", span.Text)
	}
	// Output:
	// SUSPECT: other processes took 1.7 of 2
	//          cores → leave the machine to
	//          servebench
	// "         cores →" " leave the machine to"
}
