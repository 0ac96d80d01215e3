package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"connectrpc.com/connect"
	"golang.org/x/sys/unix"

	"torpor.dev/torpor/native/internal/guest/process"
	"torpor.dev/torpor/native/internal/guest/users"
	guestv1 "torpor.dev/torpor/native/internal/protocol/torpor/guest/v1"
)

// How long the news that a process runs may wait for company: a short command is then answered by one write, and the
// channel does not take the processor from it while it starts.
const startPatience = 10 * time.Millisecond

const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// Start makes a session and answers when its process runs.
func (t *Table) Start(req *guestv1.StartRequest) (*Session, error) {
	s, _, err := t.start(context.Background(), req, false)
	return s, err
}

// Run is Start and Attach from the beginning, without a gap in which the reader is not there yet.
func (t *Table) Run(ctx context.Context, req *guestv1.StartRequest, send Send) error {
	s, r, err := t.start(ctx, req, true)
	if err != nil {
		return err
	}
	defer r.close()
	if err := send(&guestv1.AttachResponse{Event: &guestv1.AttachResponse_Started{Started: s.Describe()}}, true); err != nil {
		return err
	}
	stop := r.waitAtMost(startPatience)
	defer stop()
	return r.forward(ctx, send)
}

func (t *Table) start(ctx context.Context, req *guestv1.StartRequest, attach bool) (*Session, *reader, error) {
	s := t.newSession(req)
	before, err := t.reserve(s)
	if err != nil {
		if before == nil || before.journal != s.journal {
			s.journal.forgive()
		}
		return nil, nil, err
	}
	var r *reader
	if attach {
		r, _ = s.journal.attach(ctx, 0, req.GetHold(), "")
	}
	err = t.launch(s, req)
	close(s.ready)
	if err != nil {
		if r != nil {
			r.done = true
			r.close()
		}
		if before == nil {
			s.journal.forgive()
		}
		t.release(s, before)
		return nil, nil, err
	}
	s.setTimeout(time.Duration(min(req.GetTimeoutMs(), 1<<40)) * time.Millisecond)
	return s, r, nil
}

func (t *Table) launch(s *Session, req *guestv1.StartRequest) error {
	r, err := t.prepare(s, req)
	if err != nil {
		return err
	}
	childFiles, err := s.openFiles(req)
	if err != nil {
		return refuse(connect.CodeResourceExhausted, codeNotExecutable, "%v", err)
	}
	defer closeAll(childFiles)
	for _, fd := range childFiles {
		r.Files = append(r.Files, uintptr(fd))
	}
	_, err = t.Reaper.Start(
		func() (int, error) {
			pid, err := t.Spawner.Start(r)
			s.mu.Lock()
			s.pid = pid
			s.mu.Unlock()
			return pid, err
		},
		func(status syscall.WaitStatus) {
			if s.terminal || s.supervised { // its drain may have to wait, as may the mark of its end for that of its beginning
				go t.finish(s, status)
			} else {
				t.finish(s, status)
			}
		})
	if err != nil {
		s.mu.Lock()
		s.pid = 0
		s.mu.Unlock()
		s.input.close()
		for _, stream := range s.streams {
			stream.file.Close()
		}
		return s.explainStart(r, err)
	}
	if s.supervised {
		s.journal.mark(startMark(s.attempt, s.pid))
	}
	for _, stream := range s.streams {
		go stream.pump()
	}
	return nil
}

// prepare finds everything out that can refuse the start before anything is made.
func (t *Table) prepare(s *Session, req *guestv1.StartRequest) (*process.Request, error) {
	defaults := t.Defaults()
	if len(s.argv) == 0 {
		return nil, refuse(connect.CodeInvalidArgument, codeNotFound, "no program was given")
	}
	var err error
	if s.user, err = t.Users.Lookup(first(req.GetUser(), defaults.User)); err != nil {
		var unknown *users.UnknownError
		if errors.As(err, &unknown) {
			return nil, refuse(connect.CodeInvalidArgument, codeNotExecutable, "%v", err)
		}
		return nil, err
	}
	if s.workdir, err = t.workdir(req.GetWorkdir(), defaults.Workdir); err != nil {
		return nil, err
	}
	env, path := environment(defaults.Env, req, s.user)
	program, err := findProgram(s.argv[0], path, s.workdir)
	if err != nil {
		return nil, err
	}
	return &process.Request{Path: program, Argv: s.argv, Env: env, Dir: s.workdir, User: s.user, Terminal: s.terminal}, nil
}

// workdir makes the sandbox's own directory, as an image's WORKDIR need not exist, but not one that a caller named.
func (t *Table) workdir(asked, own string) (string, error) {
	own = first(own, "/")
	dir := first(asked, own)
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(own, dir)
	}
	info, err := os.Stat(dir)
	if errors.Is(err, os.ErrNotExist) && dir == own {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return "", refuse(connect.CodeFailedPrecondition, codeNotExecutable, "make the working directory %s: %v", dir, err)
		}
		return dir, nil
	}
	if err != nil {
		return "", refuse(connect.CodeFailedPrecondition, codeNotExecutable, "working directory %s: %v", dir, errors.Unwrap(err))
	}
	if !info.IsDir() {
		return "", refuse(connect.CodeFailedPrecondition, codeNotExecutable, "working directory %s: not a directory", dir)
	}
	return dir, nil
}

func (s *Session) explainStart(r *process.Request, err error) error {
	if err == syscall.EACCES || err == syscall.ENOENT || err == syscall.ENOTDIR {
		// chdir and exec give the same numbers; as root only the directory's absence shows, as a user also its mode.
		if info, statErr := os.Stat(r.Dir); statErr != nil {
			return refuse(connect.CodeFailedPrecondition, codeNotExecutable, "working directory %s: %v", r.Dir, errors.Unwrap(statErr))
		} else if err == syscall.EACCES && r.User.UID != 0 && info.Mode()&0o001 == 0 && !owns(info, r.User) {
			return refuse(connect.CodePermissionDenied, codeNotExecutable, "working directory %s: permission denied for user %s", r.Dir, r.User.Name)
		}
	}
	return explain(r.Path, err)
}

func owns(info os.FileInfo, u users.User) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && (stat.Uid == u.UID || stat.Gid == u.GID)
}

// openFiles makes the session's ends and returns the child's, from descriptor 0 on.
func (s *Session) openFiles(req *guestv1.StartRequest) ([]int, error) {
	if s.terminal {
		master, replica, err := openTerminal(req.GetTerminal(), s.user.UID)
		if err != nil {
			return nil, err
		}
		out, err := newStream(guestv1.Stream_STREAM_TERMINAL, master, "terminal", s.journal)
		if err != nil {
			unix.Close(replica)
			return nil, err
		}
		s.streams = []*stream{out}
		s.input = newInput(out.file, true)
		out.courtesy, out.input = s.courtesy, s.input
		return []int{replica, replica, replica}, nil
	}
	return s.openPipes(req.GetStdin())
}

func (s *Session) openPipes(stdin bool) (child []int, err error) {
	defer func() {
		if err != nil {
			closeAll(child)
			s.input.close()
			for _, stream := range s.streams {
				stream.file.Close()
			}
		}
	}()
	if stdin {
		var p [2]int
		if err := unix.Pipe2(p[:], unix.O_CLOEXEC); err != nil {
			return nil, fmt.Errorf("input pipe: %w", err)
		}
		child = append(child, p[0])
		_ = unix.SetNonblock(p[1], true)
		s.input = newInput(os.NewFile(uintptr(p[1]), "input"), false)
	} else {
		fd, err := unix.Open("/dev/null", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			return nil, fmt.Errorf("open /dev/null: %w", err)
		}
		child = append(child, fd)
	}
	for _, kind := range []guestv1.Stream{guestv1.Stream_STREAM_STDOUT, guestv1.Stream_STREAM_STDERR} {
		var p [2]int
		if err := unix.Pipe2(p[:], unix.O_CLOEXEC); err != nil {
			return child, fmt.Errorf("output pipe: %w", err)
		}
		child = append(child, p[1])
		stream, err := newStream(kind, p[0], "output", s.journal)
		if err != nil {
			return child, err
		}
		s.streams = append(s.streams, stream)
	}
	return child, nil
}

func closeAll(fds []int) {
	seen := map[int]bool{}
	for _, fd := range fds {
		if !seen[fd] {
			unix.Close(fd)
		}
		seen[fd] = true
	}
}

// environment is the sandbox's own under the request's, and what every program expects where neither has it.
func environment(own []string, req *guestv1.StartRequest, u users.User) (env []string, path string) {
	asked := req.GetEnv()
	has := map[string]bool{}
	add := func(name, value string) {
		if name == "" || has[name] || strings.ContainsAny(name, "=\x00") || strings.ContainsRune(value, 0) {
			return
		}
		has[name] = true
		env = append(env, name+"="+value)
		if name == "PATH" {
			path = value
		}
	}
	for name, value := range asked {
		add(name, value)
	}
	if terminal := req.GetTerminal(); terminal != nil && terminal.GetTerm() != "" {
		add("TERM", terminal.GetTerm())
	}
	for _, entry := range own {
		name, value, _ := strings.Cut(entry, "=")
		add(name, value)
	}
	if req.GetTerminal() != nil {
		add("TERM", defaultTerm)
		// Without a locale a shell takes the bytes of a letter that is not ASCII for commands of its line editor.
		if !has["LC_ALL"] && !has["LC_CTYPE"] {
			add("LANG", defaultLang)
		}
	}
	add("PATH", defaultPath)
	add("HOME", u.Home)
	add("USER", u.Name)
	add("LOGNAME", u.Name)
	return env, path
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
