"""A chat bot that computes in a Python of its own, which sleeps between messages.

A paused sandbox holds no memory and no process, and wakes with all its variables.

Each line of the input is a message. TORPOR_SOCKET, or TORPOR_URL and TORPOR_TOKEN, say which server.   python examples/chat_bot.py
"""

import sys

from torpor import Sandbox, Torpor


def think(message: str) -> str:
    """Here a model would be asked for code that answers the message. This bot is given the code itself."""
    return message


def answer(sandbox: Sandbox, message: str) -> str:
    run = sandbox.python.run(think(message))  # the message wakes it: auto_resume
    if run.error is not None:
        return f"{run.error.name}: {run.error.message}"
    return run.stdout.strip() or run.result or "done"


def main() -> None:
    month = 30 * 86_400
    # Should the bot itself die, the sandbox pauses after a minute, and is removed after a month.
    with Torpor() as torpor, torpor.create("debian", auto_resume=True, idle=60, hard_ttl=month) as sandbox:
        for line in sys.stdin:
            print(answer(sandbox, line.rstrip("\n")), flush=True)
            sandbox.pause()
            print(f"({sandbox.state})", flush=True)


if __name__ == "__main__":
    main()
