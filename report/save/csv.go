package save

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"
)

// CSV writes rows as comma-separated values. No spreadsheet takes a cell for a formula, see Cell.
func CSV(w io.Writer, rows [][]string) error {
	cells := make([][]string, len(rows))
	for i, row := range rows {
		for _, text := range row {
			cells[i] = append(cells[i], Cell(text))
		}
	}
	return csv.NewWriter(w).WriteAll(cells)
}

// Cell is a cell that no spreadsheet takes for a formula: a text that could be one has an apostrophe in
// front. See https://owasp.org/www-community/attacks/CSV_Injection.
func Cell(text string) string {
	if _, err := strconv.ParseFloat(text, 64); err == nil || text == "" {
		return text
	}
	if begins := []rune(text)[0]; strings.ContainsRune("=+-@\t\r\n＝＋－＠", begins) {
		return "'" + text
	}
	return text
}
