package sandbox

var polls []int32
