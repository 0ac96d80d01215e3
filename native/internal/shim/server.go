package shim

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"

	"torpor.dev/torpor/native/internal/checksum"
	"torpor.dev/torpor/native/internal/sentry"
)

type request struct {
	ID       int    `json:"id"`
	Call     string `json:"call"`
	Location string `json:"location"`
	ForSeal  bool   `json:"forSeal"`
	Parts    []Part `json:"parts"`
}

type answer struct {
	ID     int      `json:"id,omitempty"`
	Event  string   `json:"event,omitempty"`
	Result any      `json:"result,omitempty"`
	Error  *problem `json:"error,omitempty"`
}

// problem is why a call failed. Kind: "engine", "corrupt", "host".
type problem struct {
	Kind    string `json:"kind"`
	Message string `json:"message"`
	Part    string `json:"part,omitempty"`
}

type hello struct {
	Protocol int `json:"protocol"`
	Pid      int `json:"pid"`
}

type status struct {
	State string `json:"state"`
	End   *End   `json:"end,omitempty"`
}

type server struct {
	runtime *Runtime
	leave   chan struct{}

	mu    sync.Mutex
	peers map[*peer]struct{}
}

type peer struct {
	mu      sync.Mutex
	encoder *json.Encoder
}

// Serve answers the daemon until the runtime is destroyed. ready is closed once the socket listens.
func Serve(path string, ready func()) error {
	s := &server{leave: make(chan struct{}), peers: map[*peer]struct{}{}}
	runtime, err := Open(path, s.tellEnd, s.tellHold)
	if err != nil {
		return err
	}
	if runtime.config.EngineKind == "gvisor" {
		if err := sentry.LeaveCPUID(); err != nil {
			fmt.Fprintln(os.Stderr, "torpor-shim:", err) // programs start slower, and that is all
		}
	}
	s.mu.Lock()
	s.runtime = runtime
	s.mu.Unlock()
	_ = os.Remove(runtime.dir.socket())
	listener, err := net.Listen("unix", runtime.dir.socket())
	if err != nil {
		return err
	}
	if err := reachGuest(runtime); err != nil {
		return err
	}
	if err := writeJSON(path+"/shim.pid", hello{Protocol, os.Getpid()}); err != nil {
		return err
	}
	ready()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go s.talk(conn)
		}
	}()
	<-s.leave
	runtime.warm()
	return nil
}

// reachGuest lets the daemon connect to the guest, also of a runtime that is still to be launched: its line is ready before it is.
func reachGuest(runtime *Runtime) error {
	switch phase, _ := runtime.Status(); phase {
	case "ended":
		return nil
	case "running", "frozen":
		go runtime.watchRoom()
		runtime.link.live()
	}
	return runtime.link.listen()
}

func (s *server) talk(conn net.Conn) {
	defer conn.Close()
	p := &peer{encoder: json.NewEncoder(conn)}
	s.mu.Lock()
	s.peers[p] = struct{}{}
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.peers, p)
		s.mu.Unlock()
	}()
	lines := bufio.NewScanner(conn)
	lines.Buffer(make([]byte, 4<<10), 1<<20)
	for lines.Scan() {
		var r request
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return
		}
		go func() {
			result, err := s.call(r, p)
			p.send(answer{ID: r.ID, Result: result, Error: describe(err)})
			if r.Call == "destroy" && err == nil {
				close(s.leave)
			}
		}()
	}
}

func (s *server) call(r request, p *peer) (any, error) {
	switch r.Call {
	case "hello":
		return hello{Protocol, os.Getpid()}, nil
	case "boot":
		return nil, s.runtime.Boot()
	case "restore":
		return nil, s.runtime.Restore(r.Location, r.Parts)
	case "freeze":
		return nil, s.runtime.Freeze()
	case "thaw":
		return nil, s.runtime.Thaw()
	case "sync":
		return nil, s.runtime.syncDisk()
	case "capture":
		parts, err := s.runtime.Capture(r.Location, r.ForSeal)
		return map[string]any{"parts": parts}, err
	case "syncDisk":
		return nil, s.runtime.SyncDisk()
	case "digest":
		err := digest(r.Location, r.Parts, new(checksum.Ahead))
		return map[string]any{"parts": r.Parts}, err
	case "status":
		s.repeatHold(p)
		state, end := s.runtime.Status()
		return status{state, end}, nil
	case "memory":
		bytes, err := s.runtime.cgroup.MemoryBytes()
		return map[string]any{"bytes": bytes}, err
	case "destroy":
		return nil, s.runtime.Destroy()
	default:
		return nil, errors.New("unknown call " + r.Call)
	}
}

func (s *server) tellEnd(end End) { s.tell(answer{Event: "ended", Result: end}) }

// tellHold tells of a hold, or with nil of its end. Each comes after the one before it.
func (s *server) tellHold(hold *Hold) { s.tell(answer{Event: "held", Result: hold}) }

// repeatHold tells one that may have missed it how it is now. As news and not in an answer: it would be overtaken by the end of the hold.
func (s *server) repeatHold(p *peer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p.send(answer{Event: "held", Result: s.runtime.held()})
}

func (s *server) tell(news answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for p := range s.peers {
		p.send(news)
	}
}

func (p *peer) send(a answer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = p.encoder.Encode(a)
}

func describe(err error) *problem {
	if err == nil {
		return nil
	}
	var corrupt *CorruptError
	if errors.As(err, &corrupt) {
		return &problem{Kind: "corrupt", Message: corrupt.Error(), Part: corrupt.Part}
	}
	var failed *EngineError
	var refused *sentry.Error
	if errors.As(err, &failed) || errors.As(err, &refused) {
		return &problem{Kind: "engine", Message: err.Error()}
	}
	return &problem{Kind: "host", Message: err.Error()}
}
