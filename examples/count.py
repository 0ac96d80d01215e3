"""A counter that lives in memory only: pause the sandbox, resume it, and it goes on from where it stopped."""

import os
import time

n = 0
while True:
    n += 1
    print(f"{n} (pid {os.getpid()})", flush=True)
    time.sleep(0.2)
