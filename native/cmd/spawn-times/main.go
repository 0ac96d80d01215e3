// spawn-times prints, in milliseconds, how long the guest's own way of running /bin/true takes inside a sandbox when nobody
// outside waits for it: what an exec is compared with (bench/).
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"time"

	"torpor.dev/torpor/native/internal/guest/clock"
	"torpor.dev/torpor/native/internal/guest/process"
	"torpor.dev/torpor/native/internal/guest/session"
	guestv1 "torpor.dev/torpor/native/internal/protocol/torpor/guest/v1"
	"torpor.dev/torpor/native/internal/reaper"
)

func main() {
	count, _ := strconv.Atoi(os.Args[1])
	if err := process.SwallowSignals(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	table := session.NewTable(reaper.New(), process.NewSpawner(), clock.New(), func() session.Defaults {
		return session.Defaults{Env: []string{"PATH=/usr/bin:/bin"}, Workdir: "/", User: "root"}
	})
	for i := range count {
		start := time.Now()
		request := &guestv1.StartRequest{SessionId: strconv.Itoa(i), Argv: []string{"/bin/true"}, Hold: true}
		if err := table.Run(context.Background(), request, func(*guestv1.AttachResponse, bool) error { return nil }); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println(float64(time.Since(start).Microseconds()) / 1000)
	}
}
