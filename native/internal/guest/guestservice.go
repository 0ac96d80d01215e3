package guest

import (
	"context"
	"crypto/rand"
	"fmt"
	"log"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"connectrpc.com/connect"

	"torpor.dev/torpor/native/internal/guest/clock"
	"torpor.dev/torpor/native/internal/guest/identity"
	"torpor.dev/torpor/native/internal/guest/memory"
	"torpor.dev/torpor/native/internal/guest/process"
	"torpor.dev/torpor/native/internal/guest/self"
	"torpor.dev/torpor/native/internal/guest/session"
	guestv1 "torpor.dev/torpor/native/internal/protocol/torpor/guest/v1"
	"torpor.dev/torpor/native/internal/reaper"
)

// ProtocolVersion grows by one with each addition that the daemon has to know of.
const ProtocolVersion = 2

// Version is set by the build.
var Version = "0.0.0"

// guestService speaks the protocol's Guest: it is the whole of the sandbox's state that is not a session.
type guestService struct {
	reaper  *reaper.Reaper
	spawner *process.Spawner
	clock   *clock.Clock
	table   *session.Table
	watch   *memory.Watch
	self    *self.Table
	files   identity.Files
	bootID  string
	exit    func()

	mu    sync.Mutex // one Hello at a time
	hello atomic.Pointer[guestv1.HelloRequest]
	env   atomic.Pointer[[]string]
}

func newGuestService(exit func()) *guestService {
	g := &guestService{reaper: reaper.New(), spawner: process.NewSpawner(), clock: clock.New(), files: identity.System, bootID: rand.Text(), exit: exit}
	g.hello.Store(&guestv1.HelloRequest{})
	g.env.Store(&[]string{})
	g.table = session.NewTable(g.reaper, g.spawner, g.clock, func() session.Defaults {
		h := g.hello.Load()
		return session.Defaults{Env: *g.env.Load(), Workdir: h.GetWorkdir(), User: h.GetUser()}
	})
	g.self = self.NewTable(g.hello.Load)
	g.watch = memory.NewWatch(g.table.MarkOutOfMemory, g.spawner)
	return g
}

// Hello answers at once, so that the daemon can write down meanwhile that the sandbox runs; other calls wait until it has settled.
func (g *guestService) Hello(ctx context.Context, req *connect.Request[guestv1.HelloRequest]) (*connect.Response[guestv1.HelloResponse], error) {
	g.mu.Lock()
	settled := make(chan struct{})
	go func() {
		defer g.mu.Unlock()
		defer close(settled)
		runtime.Gosched() // the answer first
		g.become(req.Msg)
	}()
	openGate(ctx, settled)
	return connect.NewResponse(&guestv1.HelloResponse{Protocol: ProtocolVersion, Version: Version, BootId: g.bootID, UnixNanos: time.Now().UnixNano()}), nil
}

// become makes the sandbox the one that it is now.
func (g *guestService) become(h *guestv1.HelloRequest) {
	// A child of a fork may have its parent's number: the first generation of each is 1.
	before := g.hello.Load()
	fresh := h.GetGeneration() != before.GetGeneration() || h.GetSandboxId() != before.GetSandboxId()
	if err := identity.Apply(h, before, g.files); err != nil {
		log.Printf("identity: %v", err)
	}
	if err := g.spawner.LimitPids(h.GetPidsLimit()); err != nil {
		log.Printf("process limit: %v", err)
	}
	g.watch.SetLimit(h.GetMemoryLimitBytes())
	env := identity.Environment(h)
	g.env.Store(&env)
	g.hello.Store(h)
	if fresh {
		g.self.Restored(h)
		g.table.RestartGrace()
		go identity.Hooks{Reaper: g.reaper, Spawner: g.spawner, Clock: g.clock}.Run(h)
	}
	g.table.Thaw()
}

func (g *guestService) Prepare(_ context.Context, req *connect.Request[guestv1.PrepareRequest]) (*connect.Response[guestv1.PrepareResponse], error) {
	if req.Msg.GetStop() {
		g.table.Stop()
		return connect.NewResponse(&guestv1.PrepareResponse{}), nil
	}
	g.table.Freeze()
	syscall.Sync()
	memory.DropGarbage()
	memory.ReleaseUntouched()
	return connect.NewResponse(&guestv1.PrepareResponse{}), nil
}

func (g *guestService) Release(context.Context, *connect.Request[guestv1.ReleaseRequest]) (*connect.Response[guestv1.ReleaseResponse], error) {
	g.table.Thaw()
	return connect.NewResponse(&guestv1.ReleaseResponse{}), nil
}

func (g *guestService) Flush(context.Context, *connect.Request[guestv1.FlushRequest]) (*connect.Response[guestv1.FlushResponse], error) {
	syscall.Sync()
	return connect.NewResponse(&guestv1.FlushResponse{}), nil
}

func (g *guestService) Shutdown(_ context.Context, req *connect.Request[guestv1.ShutdownRequest]) (*connect.Response[guestv1.ShutdownResponse], error) {
	g.shutdown(time.Duration(req.Msg.GetGraceMs()) * time.Millisecond)
	time.AfterFunc(answerTime, g.exit)
	return connect.NewResponse(&guestv1.ShutdownResponse{}), nil
}

func (g *guestService) Requests(ctx context.Context, _ *connect.Request[guestv1.RequestsRequest], out *connect.ServerStream[guestv1.SelfRequest]) error {
	return ended(g.self.Stream(ctx, out.Send))
}

func (g *guestService) Answer(_ context.Context, req *connect.Request[guestv1.AnswerRequest]) (*connect.Response[guestv1.AnswerResponse], error) {
	g.self.Answer(req.Msg.GetId(), []byte(req.Msg.GetAnswer()))
	return connect.NewResponse(&guestv1.AnswerResponse{}), nil
}

func (g *guestService) Stats(context.Context, *connect.Request[guestv1.StatsRequest]) (*connect.Response[guestv1.StatsResponse], error) {
	info, err := memory.ReadInfo()
	if err != nil {
		return nil, connect.NewError(connect.CodeInternal, fmt.Errorf("memory of the sandbox: %w", err))
	}
	return connect.NewResponse(&guestv1.StatsResponse{
		MemoryTotalBytes: info.Total, MemoryAvailableBytes: info.Available,
		Processes: uint32(len(process.List())), OomKills: g.watch.Kills(),
	}), nil
}

const (
	// How long the last answer may take on its way out before PID 1, and with it the sandbox, ends.
	answerTime   = 50 * time.Millisecond
	shutdownLook = 50 * time.Millisecond
)

// shutdown ends every process of the sandbox, by force what is left after the grace, and writes dirty files to the disk.
func (g *guestService) shutdown(grace time.Duration) {
	g.table.Stop()
	if signalAll(syscall.SIGTERM) > 0 {
		deadline := time.Now().Add(grace)
		for len(others()) > 0 && time.Now().Before(deadline) {
			select {
			case <-g.reaper.Reaped():
			case <-time.After(shutdownLook):
			}
		}
		for range 20 {
			if signalAll(syscall.SIGKILL) == 0 {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
	syscall.Sync()
}

// others are the sandbox's processes but PID 1 and what was started from outside: killing the connector would cut off the
// answer.
func others() (pids []int) {
	for _, pid := range process.List() {
		if info, ok := process.Read(pid); ok && pid != os.Getpid() && info.Parent > 0 && info.State != 'Z' {
			pids = append(pids, pid)
		}
	}
	return pids
}

func signalAll(signal syscall.Signal) (n int) {
	if os.Getpid() != 1 {
		return 0 // a test: these processes are not ours
	}
	for _, pid := range others() {
		if syscall.Kill(pid, signal) == nil {
			n++
		}
	}
	return n
}
