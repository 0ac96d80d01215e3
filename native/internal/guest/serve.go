// Package guest is torpor-guest: PID 1 of a sandbox, which serves the daemon, and the connector through which it is reached.
package guest

import (
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"sync"
	"syscall"
	"time"

	"connectrpc.com/connect"

	"torpor.dev/torpor/native/internal/connector"
	"torpor.dev/torpor/native/internal/guest/files"
	"torpor.dev/torpor/native/internal/guest/ports"
	"torpor.dev/torpor/native/internal/guest/process"
	"torpor.dev/torpor/native/internal/protocol/torpor/guest/v1/guestv1connect"
	"torpor.dev/torpor/native/internal/selfline"
)

const (
	defaultGrace = 10 * time.Second
	// Largest message taken: a Write of input, a chunk of a file. The daemon sends 256 KiB at most.
	maxMessageBytes = 4 << 20
	// One processor at a time: each more costs a checkpoint 0.8 MB and a restore its threads, and PID 1 mostly waits.
	processors = 1
	// What PID 1 has dirtied is part of every checkpoint: below 4 MB of heap garbage is dropped at a pause, if it is worth it.
	collectPercent   = 100
	softMemoryBytes  = 64 << 20
	maxHeaderBytes   = 16 << 10
	streamsPerClient = 1000
)

// Init is PID 1: it serves until it is told to end.
func Init() error {
	syscall.Umask(0o022)
	runtime.GOMAXPROCS(processors)
	debug.SetGCPercent(collectPercent)
	debug.SetMemoryLimit(softMemoryBytes)
	g := newGuestService(func() { os.Exit(0) })
	g.obeySignals()
	first, err := takeStdio()
	if err != nil {
		return err
	}
	l, err := listen(connector.SocketPath, fromOutside)
	if err != nil {
		return err
	}
	// A sandbox whose /run nobody can write runs all the same.
	if err := g.self.Listen(selfline.SocketPath); err != nil {
		log.Printf("the socket for requests from inside: %v", err)
	}
	// No collection now: its own workers would dirty more (0.35 MB) than it frees.
	return g.serve(newHostListener(l, first))
}

func (g *guestService) serve(l net.Listener) error {
	options := []connect.HandlerOption{
		connect.WithInterceptors(gateInterceptor{}), connect.WithReadMaxBytes(maxMessageBytes), connect.WithCompression("gzip", nil, nil),
	}
	mux := http.NewServeMux()
	mux.Handle(guestv1connect.NewGuestHandler(g, options...))
	mux.Handle(guestv1connect.NewSessionsHandler(sessionService{g.table}, options...))
	mux.Handle("/"+guestv1connect.FilesName+"/", onFirstUse(func() (string, http.Handler) {
		return guestv1connect.NewFilesHandler(files.NewService(func() string { return g.hello.Load().GetWorkdir() }), options...)
	}))
	mux.Handle("/"+guestv1connect.PortsName+"/", onFirstUse(func() (string, http.Handler) {
		return guestv1connect.NewPortsHandler(ports.NewService(func() string { return g.hello.Load().GetAddress() }), options...)
	}))
	server := &http.Server{Handler: withFlusher(mux), ConnContext: withGate, MaxHeaderBytes: maxHeaderBytes, Protocols: new(http.Protocols),
		HTTP2: &http.HTTP2Config{MaxConcurrentStreams: streamsPerClient, MaxReceiveBufferPerStream: 1 << 20, MaxReceiveBufferPerConnection: 4 << 20}}
	server.Protocols.SetUnencryptedHTTP2(true)
	return server.Serve(l)
}

// onFirstUse makes a service's handlers when they are needed: 50 KB of each checkpoint are not worth those that are not.
func onFirstUse(make func() (string, http.Handler)) http.Handler {
	made := sync.OnceValue(func() http.Handler {
		_, handler := make()
		return handler
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { made().ServeHTTP(w, r) })
}

// obeySignals keeps PID 1 alive: root in the sandbox may send it anything. TERM is the way to end it.
func (g *guestService) obeySignals() {
	if err := process.SwallowSignals(); err != nil {
		log.Print(err)
	}
	// Sent by somebody they are no faults. Go's own handler stays: of a fault it makes a panic.
	ignored := make(chan os.Signal, 1)
	signal.Notify(ignored, syscall.SIGILL, syscall.SIGTRAP, syscall.SIGBUS, syscall.SIGFPE, syscall.SIGSEGV, syscall.SIGSTKFLT, syscall.SIGPROF, syscall.SIGSYS)
	go func() {
		for range ignored {
		}
	}()
	terminate := make(chan os.Signal, 1)
	signal.Notify(terminate, syscall.SIGTERM)
	go func() {
		<-terminate
		g.shutdown(defaultGrace)
		g.exit()
	}()
}
