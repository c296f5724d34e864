// Package quantity reads the sizes, durations and percentages in which people
// state limits.
package quantity
