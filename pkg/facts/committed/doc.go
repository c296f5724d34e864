// Package committed derives the facts of a recorded action again, on another machine, from the
// files of the commit that the action ran on, and compares them with the recorded facts. See
// [Check].
package committed
