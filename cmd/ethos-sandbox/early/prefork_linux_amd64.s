// A package with a function that is defined elsewhere needs a file of assembly.
