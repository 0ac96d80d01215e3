from __future__ import annotations

from collections.abc import Iterator

import pytest
from daemon import Daemon

from torpor import Sandbox, Torpor


@pytest.fixture(scope="session")
def daemon() -> Iterator[Daemon]:
    with Daemon() as daemon:
        yield daemon


@pytest.fixture
def torpor(daemon: Daemon) -> Iterator[Torpor]:
    with Torpor(socket=daemon.socket) as torpor:
        yield torpor


@pytest.fixture
def sandbox(torpor: Torpor) -> Iterator[Sandbox]:
    with torpor.create("debian") as sandbox:
        yield sandbox
