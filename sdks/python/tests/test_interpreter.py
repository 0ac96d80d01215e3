from __future__ import annotations

from torpor import Sandbox


def test_variables_are_kept_from_run_to_run_and_over_a_pause(sandbox: Sandbox) -> None:
    assert sandbox.python.run("x = 20").result is None
    sandbox.pause()
    sandbox.resume()
    run = sandbox.python.run("print('out')\nx + 22")
    assert (run.stdout, run.result, run.error) == ("out\n", "42", None)
    failed = sandbox.python.run("1 / 0")
    assert failed.error
    assert failed.error.name == "ZeroDivisionError"


def test_output_comes_as_it_is_written(sandbox: Sandbox) -> None:
    out: list[str] = []
    run = sandbox.python.run("import sys\nprint('a')\nprint('b', file=sys.stderr)", on_stdout=out.append)
    assert ("".join(out), run.stdout, run.stderr) == ("a\n", "a\n", "b\n")
