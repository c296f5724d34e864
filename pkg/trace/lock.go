package trace

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// locked runs fn while this process holds the exclusive lock. flock(2) locks belong to the open
// file, and end with the process, however it ends.
func (s *Store) locked(fn func() error) error {
	if s.lock == nil {
		return errors.New("the store is closed or was opened for reading")
	}
	if err := s.acquire(); err != nil {
		return err
	}
	return errors.Join(fn(), flock(s.lock, syscall.LOCK_UN))
}

// acquire takes the lock, even if other processes removed and recreated the store's files since
// they were opened.
func (s *Store) acquire() error {
	for range 10 {
		if err := flock(s.lock, syscall.LOCK_EX); err != nil {
			return fmt.Errorf("lock: %w", err)
		}
		if s.lockIsCurrent() {
			return nil
		}
		if err := s.reopen(); err != nil {
			return err
		}
	}
	return errors.New("the store is being removed again and again")
}

func (s *Store) lockIsCurrent() bool {
	mine, err := s.lock.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(s.dir + "/" + lockFile)
	return err == nil && os.SameFile(mine, there)
}

func (s *Store) reopen() error {
	s.release()
	return s.open()
}

func flock(f *os.File, how int) error {
	for {
		err := syscall.Flock(int(f.Fd()), how)
		if !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}
