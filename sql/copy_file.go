package sql

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/sql/copyfmt"
)

// copyFile is the other side of a COPY that names a file of the server. It is to COPY what a client
// is, so that both go the same way.
type copyFile struct {
	ResultWriter // of the client, which hears of the rows' number only
	path         string
	read, write  *os.File
	buffered     *bufio.Writer
}

// filePiece is how much of a file is read or written at once.
const filePiece = 64 << 10

// check refuses names of files that COPY neither reads nor writes. A name without a directory would
// depend on where the server was started, and reading from a pipe or device may never end.
func (c *copyFile) check(way string) error {
	if !filepath.IsAbs(c.path) {
		return sqlerr.New(sqlerr.InvalidName, "relative path not allowed for COPY %s file", way)
	}
	found, err := os.Stat(c.path)
	if err == nil && !found.IsDir() && !found.Mode().IsRegular() {
		return sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is not a regular file", c.path)
	}
	if err == nil && found.IsDir() && way == "from" {
		return sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is a directory", c.path)
	}
	return nil
}

// CopyIn opens the file and returns its pieces (CopyWriter).
func (c *copyFile) CopyIn(int, bool) (copyfmt.Source, error) {
	err := c.check("from")
	if err != nil {
		return nil, err
	}
	if c.read, err = os.Open(c.path); err != nil {
		return nil, fileError(err, "could not open file \""+c.path+"\" for reading").
			WithHint("COPY FROM instructs the server process to read a file. " +
				"You may want a client-side facility such as psql's \\copy.")
	}
	return &fileSource{file: c.read, buf: make([]byte, filePiece)}, nil
}

// CopyOut makes the file, or empties it.
func (c *copyFile) CopyOut(int, bool) error {
	err := c.check("to")
	if err != nil {
		return err
	}
	c.write, err = os.OpenFile(c.path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return fileError(err, "could not open file \""+c.path+"\" for writing").
			WithHint("COPY TO instructs the server process to write a file. " +
				"You may want a client-side facility such as psql's \\copy.")
	}
	c.buffered = bufio.NewWriterSize(c.write, filePiece)
	return nil
}

// fileError returns the error of the operating system with what could not be done before it, and
// the SQLSTATE that PostgreSQL gives it.
func fileError(err error, what string) *sqlerr.Error {
	var errno syscall.Errno
	cause, code := err.Error(), sqlerr.IOError
	if errors.As(err, &errno) {
		cause = errno.Error()
		cause = strings.ToUpper(cause[:1]) + cause[1:] // as the C library writes it
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		code = sqlerr.UndefinedFile
	case errors.Is(err, fs.ErrPermission), errno == syscall.EROFS:
		code = sqlerr.InsufficientPrivilege
	case errno == syscall.EISDIR:
		code = sqlerr.WrongObjectType
	case errno == syscall.ENOSPC:
		code = sqlerr.DiskFull
	}
	return sqlerr.New(code, "%s: %s", what, cause)
}

// CopyData writes a piece.
func (c *copyFile) CopyData(b []byte) error {
	_, err := c.buffered.Write(b)
	return c.written(err)
}

// CopyDone writes what is left, and reports what closing the file reports.
func (c *copyFile) CopyDone() error {
	err := c.buffered.Flush()
	if err == nil {
		err = c.write.Close()
	}
	return c.written(err)
}

func (c *copyFile) written(err error) error {
	if err != nil {
		return fileError(err, "could not write to COPY file")
	}
	return nil
}

// close closes a file that is still open, as after an error.
func (c *copyFile) close() {
	if c.read != nil {
		_ = c.read.Close()
	}
	if c.write != nil {
		_ = c.write.Close()
	}
}

// fileSource gives a file in pieces, each valid until the next.
type fileSource struct {
	file *os.File
	buf  []byte
}

func (s *fileSource) Next() ([]byte, error) {
	n, err := s.file.Read(s.buf)
	switch {
	case n > 0:
		return s.buf[:n], nil
	case errors.Is(err, io.EOF):
		return nil, io.EOF
	}
	return nil, fileError(err, "could not read from COPY file")
}
