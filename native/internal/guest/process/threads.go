package process

import (
	"runtime"
	"sync"
)

// ownThreads is how many threads PID 1 has from the start where the host counts them with the sandbox's processes. The
// daemon adds a few more places than that to the sandbox's (guestThreads, in the engine runc).
const ownThreads = 12

var threads sync.Once

// reserveThreads makes PID 1's threads ahead. A thread that is first needed when the sandbox's processes have every place can
// not be made, and the Go runtime then ends the program, and with it the sandbox.
func reserveThreads() {
	threads.Do(func() {
		var there, done sync.WaitGroup
		there.Add(ownThreads)
		done.Add(1)
		for range ownThreads {
			go func() {
				runtime.LockOSThread() // each has to have its own thread while all are here
				defer runtime.UnlockOSThread()
				there.Done()
				done.Wait()
			}()
		}
		there.Wait()
		done.Done() // the threads stay, idle, for whoever needs one
	})
}
