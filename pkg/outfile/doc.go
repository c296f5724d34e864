// Package outfile opens the files that a person names for a program's output.
//
//	err := outfile.Replace(path, write)   // atomically
//	w, err := outfile.Later(path)         // the same, when w is closed
//	f, err := outfile.Append(path, 0o600)
//
// # Contract
//
// A confined command can leave a symbolic link in the work space where the
// person's next command writes its output, and so choose a file that it could
// not write itself. A link is therefore not followed if it lies in a work space
// or in the current directory, nor if it is the last component of the path; the
// error is a [*LinkError]. Other links, such as those of /dev, and those on the
// way to the work space, are followed.
//
// Each component is opened in the directory that was opened before it, so a link
// that takes a directory's place meanwhile is not followed either.
//
// An existing file that is not regular, such as a FIFO or a terminal, is written
// to directly.
package outfile
