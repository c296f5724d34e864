package main

import "flag"

var update = flag.Bool("update", false, "write the expected output of scripts")
