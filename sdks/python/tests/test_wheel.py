from __future__ import annotations

import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest
from blocks import blocks_for
from daemon import ROOT, Daemon

SDK = ROOT / "sdks" / "python"
TOOLS = ROOT / ".tools" / "python" / "newest" / "bin" / "python"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("wheel")
    build = "import sys, hatchling.build; print(hatchling.build.build_wheel(sys.argv[1]))"
    name = subprocess.run([TOOLS, "-c", build, directory], cwd=SDK, capture_output=True, text=True, check=True).stdout.split()[-1]
    return directory / name


def test_it_has_the_types_the_license_and_nothing_that_is_not_meant_for_users(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert "torpor/py.typed" in names
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert {name.split("/")[0].split("-")[0] for name in names} == {"torpor"}
    assert not [name for name in names if "test" in name or "tools/" in name or name.endswith(".pyc")]


def test_installed_in_a_clean_environment_as_the_readme_says_it_works(wheel: Path, daemon: Daemon, tmp_path: Path) -> None:
    venv.create(tmp_path / "env", with_pip=True, symlinks=True)
    python = tmp_path / "env" / "bin" / "python"
    # With what it needs, which scripts/bootstrap has fetched: no package index has to answer.
    settings = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": f"{wheel.parent} {sys.prefix}/wheels", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    [block] = blocks_for(__file__)
    subprocess.run(["sh", "-euc", block.text], check=True, env={**settings, "PATH": f"{python.parent}:/usr/bin:/bin", "PIP_QUIET": "1"})
    (tmp_path / "program.py").write_text(
        "import sys, torpor\n"
        "assert '/env/' in torpor.__file__, torpor.__file__\n"
        "with torpor.Torpor(socket=sys.argv[1]) as client, client.create('debian') as sandbox:\n"
        "    print(sandbox.exec('echo from the wheel').stdout, end='')\n"
    )
    program = [python, tmp_path / "program.py", daemon.socket]
    done = subprocess.run(program, capture_output=True, text=True, env={}, check=False)
    assert (done.stdout, done.stderr) == ("from the wheel\n", "")
