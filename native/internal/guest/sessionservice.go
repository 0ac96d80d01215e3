package guest

import (
	"context"
	"errors"

	"connectrpc.com/connect"

	"torpor.dev/torpor/native/internal/guest/session"
	guestv1 "torpor.dev/torpor/native/internal/protocol/torpor/guest/v1"
)

// sessionService speaks the protocol's Sessions for a table.
type sessionService struct{ table *session.Table }

func (s sessionService) Start(_ context.Context, req *connect.Request[guestv1.StartRequest]) (*connect.Response[guestv1.StartResponse], error) {
	started, err := s.table.Start(req.Msg)
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(&guestv1.StartResponse{Session: started.Describe()}), nil
}

func (s sessionService) Run(ctx context.Context, req *connect.Request[guestv1.StartRequest], out *connect.ServerStream[guestv1.AttachResponse]) error {
	return ended(s.table.Run(ctx, req.Msg, sender(ctx, out)))
}

func (s sessionService) Attach(ctx context.Context, req *connect.Request[guestv1.AttachRequest], out *connect.ServerStream[guestv1.AttachResponse]) error {
	found, err := s.table.Get(req.Msg.GetSessionId())
	if err != nil {
		return err
	}
	return ended(found.Attach(ctx, req.Msg, sender(ctx, out)))
}

// sender writes messages to a stream.
func sender(ctx context.Context, out *connect.ServerStream[guestv1.AttachResponse]) session.Send {
	return func(m *guestv1.AttachResponse, more bool) error {
		holdFlush(ctx, more)
		if m == nil {
			flush(ctx)
			return nil
		}
		return out.Send(m)
	}
}

// ended leaves the name of a cancelled call to the protocol.
func ended(err error) error {
	switch {
	case errors.Is(err, context.Canceled):
		return connect.NewError(connect.CodeCanceled, err)
	case errors.Is(err, context.DeadlineExceeded):
		return connect.NewError(connect.CodeDeadlineExceeded, err)
	}
	return err
}

func (s sessionService) Write(ctx context.Context, req *connect.Request[guestv1.WriteRequest]) (*connect.Response[guestv1.WriteResponse], error) {
	found, err := s.table.Get(req.Msg.GetSessionId())
	if err != nil {
		return nil, err
	}
	offset, err := found.Write(ctx, req.Msg.GetClient(), req.Msg.GetOffset(), req.Msg.GetData(), req.Msg.GetEof())
	if err != nil {
		return nil, ended(err)
	}
	return connect.NewResponse(&guestv1.WriteResponse{Offset: offset}), nil
}

func (s sessionService) Resize(_ context.Context, req *connect.Request[guestv1.ResizeRequest]) (*connect.Response[guestv1.ResizeResponse], error) {
	found, err := s.table.Get(req.Msg.GetSessionId())
	if err != nil {
		return nil, err
	}
	if err := found.Resize(req.Msg.GetRows(), req.Msg.GetColumns()); err != nil {
		return nil, err
	}
	return connect.NewResponse(&guestv1.ResizeResponse{}), nil
}

func (s sessionService) Signal(_ context.Context, req *connect.Request[guestv1.SignalRequest]) (*connect.Response[guestv1.SignalResponse], error) {
	found, err := s.table.Get(req.Msg.GetSessionId())
	if err != nil {
		return nil, err
	}
	if err := found.Signal(req.Msg.GetSignal()); err != nil {
		return nil, err
	}
	return connect.NewResponse(&guestv1.SignalResponse{}), nil
}

func (s sessionService) Get(_ context.Context, req *connect.Request[guestv1.GetRequest]) (*connect.Response[guestv1.Session], error) {
	found, err := s.table.Get(req.Msg.GetSessionId())
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(found.Describe()), nil
}

func (s sessionService) Await(ctx context.Context, req *connect.Request[guestv1.AwaitRequest]) (*connect.Response[guestv1.Session], error) {
	found, err := s.table.Await(ctx, req.Msg.GetSessionId(), req.Msg.GetAttempt())
	if err != nil {
		return nil, ended(err)
	}
	return connect.NewResponse(found.Describe()), nil
}

func (s sessionService) List(context.Context, *connect.Request[guestv1.ListRequest]) (*connect.Response[guestv1.ListResponse], error) {
	list := &guestv1.ListResponse{}
	for _, each := range s.table.List() {
		list.Sessions = append(list.Sessions, each.Describe())
	}
	return connect.NewResponse(list), nil
}

func (s sessionService) Remove(ctx context.Context, req *connect.Request[guestv1.RemoveRequest]) (*connect.Response[guestv1.RemoveResponse], error) {
	if err := s.table.Remove(ctx, req.Msg.GetSessionId(), req.Msg.GetForce()); err != nil {
		return nil, ended(err)
	}
	return connect.NewResponse(&guestv1.RemoveResponse{}), nil
}
