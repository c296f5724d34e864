// Package quantity parses the sizes, durations and percentages that people use
// to state limits.
package quantity
