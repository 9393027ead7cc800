// Package rows reads files of JSON record by record, because a file may be larger than the memory.
//
// A file of JSON lines has a record on each line. An Array is a file that holds one JSON array. A
// Grouped file of JSON lines has records that belong together on lines that need not be adjacent.
// An error names the file and the line.
package rows
