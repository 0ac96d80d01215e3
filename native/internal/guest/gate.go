package guest

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync/atomic"

	"connectrpc.com/connect"

	"torpor.dev/torpor/native/internal/protocol/torpor/guest/v1/guestv1connect"
)

type gateKey struct{}

// gate is closed until a connection has said Hello: a daemon that does not know what it speaks to must not start anything.
type gate struct {
	settled atomic.Pointer[chan struct{}] // of the last Hello
}

func withGate(ctx context.Context, _ net.Conn) context.Context {
	return context.WithValue(ctx, gateKey{}, &gate{})
}

// openGate lets calls of the connection in once settled is closed.
func openGate(ctx context.Context, settled chan struct{}) {
	if g, ok := ctx.Value(gateKey{}).(*gate); ok {
		g.settled.Store(&settled)
	}
}

func passGate(ctx context.Context, procedure string) error {
	if procedure == guestv1connect.GuestHelloProcedure {
		return nil
	}
	if g, ok := ctx.Value(gateKey{}).(*gate); ok {
		if settled := g.settled.Load(); settled != nil {
			select {
			case <-*settled:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
	return connect.NewError(connect.CodeFailedPrecondition, errors.New("the first call on a connection is Hello"))
}

type gateInterceptor struct{}

func (gateInterceptor) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, req connect.AnyRequest) (connect.AnyResponse, error) {
		if err := passGate(ctx, req.Spec().Procedure); err != nil {
			return nil, err
		}
		return next(ctx, req)
	}
}

func (gateInterceptor) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return next
}

func (gateInterceptor) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return func(ctx context.Context, conn connect.StreamingHandlerConn) error {
		if err := passGate(ctx, conn.Spec().Procedure); err != nil {
			return err
		}
		return next(ctx, conn)
	}
}

type flushKey struct{}

// flusher lets a stream send several messages with one write: each flush is a write to the channel, and for a short
// command these are a good part of the time.
type flusher struct {
	http.ResponseWriter
	hold bool // only touched by the handler's goroutine
}

func (f *flusher) Flush() {
	if !f.hold {
		f.ResponseWriter.(http.Flusher).Flush()
	}
}

func (f *flusher) Unwrap() http.ResponseWriter { return f.ResponseWriter }

func withFlusher(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f := &flusher{ResponseWriter: w}
		next.ServeHTTP(f, r.WithContext(context.WithValue(r.Context(), flushKey{}, f)))
	})
}

// holdFlush says whether more messages follow at once.
func holdFlush(ctx context.Context, hold bool) {
	if f, ok := ctx.Value(flushKey{}).(*flusher); ok {
		f.hold = hold
	}
}

// flush sends what was kept back.
func flush(ctx context.Context) {
	if f, ok := ctx.Value(flushKey{}).(*flusher); ok {
		f.Flush()
	}
}
