from __future__ import annotations

import os
import tarfile
import tempfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO

from torpor.errors import InvalidArchiveError


def open_local(source: Path) -> tuple[IO[bytes], int | None]:
    """A file with its permissions; or what is in a directory, as a tar file, which has none."""
    if not source.is_dir():
        file = source.open("rb")
        return file, os.fstat(file.fileno()).st_mode & 0o777
    archive = tempfile.TemporaryFile()  # noqa: SIM115 - the caller closes it
    try:
        with tarfile.open(fileobj=archive, mode="w", format=tarfile.PAX_FORMAT) as tar:
            for entry in sorted(source.iterdir()):
                tar.add(entry, arcname=entry.name, filter=_nameless)
        archive.seek(0)
    except BaseException:
        archive.close()
        raise
    return archive, None


def unpack(archive: IO[bytes], target: Path) -> None:
    """The content of the one directory that is in the archive. The archive is not trusted."""
    target.mkdir(parents=True, exist_ok=True)
    try:
        with tarfile.open(fileobj=archive, mode="r:") as tar:
            tar.extractall(target, members=_inner(tar), filter="data")
    except (tarfile.TarError, KeyError) as error:
        raise InvalidArchiveError(f"the archive that the sandbox sent is not taken: {error}") from error


def means_content(source: str | os.PathLike[str]) -> bool:
    """`directory/.` is what is in it."""
    return os.fspath(source).endswith(("/.", os.sep + ".")) or os.fspath(source) == "."


def name_of(source: str | os.PathLike[str]) -> str:
    return Path(os.path.abspath(source)).name


def local_target(target: Path, source: str) -> Path:
    """Where a file or directory of a sandbox comes to lie here."""
    name = PurePosixPath(source).name
    return target / name if target.is_dir() and not means_content(source) and name not in ("", "..") else target


def _nameless(info: tarfile.TarInfo) -> tarfile.TarInfo:
    """Owners of this machine mean nothing in a sandbox."""
    info.uid = info.gid = 0
    info.uname = info.gname = ""
    return info


def _inner(tar: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    """Without the directory's own name, which each begins with. A hard link's target is one of the archive's names too."""
    for info in tar:
        info.name = _below(info.name)
        if info.islnk():
            info.linkname = _below(info.linkname)
        if info.name:
            yield info


def _below(name: str) -> str:
    parts = [part for part in PurePosixPath(name).parts if part != "."]
    return "/".join(parts[1:]) if not name.startswith("/") else name


@contextmanager
def temporary_beside(target: Path, mode: int) -> Generator[IO[bytes], None, None]:
    """A file that takes the target's place when all is written, and otherwise leaves it as it is."""
    descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
        Path(name).chmod(mode)
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
