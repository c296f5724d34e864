package faultinject

var polls []int32
