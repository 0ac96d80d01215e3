from __future__ import annotations

import json
import os
import tempfile
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from torpor._archive import local_target, means_content, name_of, open_local, temporary_beside, unpack
from torpor._async.transport import AsyncTransport
from torpor._concurrent import AsyncContent, async_blocking
from torpor._summaries import FileChange
from torpor._text import decode_text
from torpor.errors import InvalidPathError, TorporFileNotFoundError
from torpor.models import Entry


class AsyncFiles:
    """The files of a sandbox. `user` is whom to act as, root unless given."""

    def __init__(self, transport: AsyncTransport, sandbox: str) -> None:
        self._transport = transport
        self._params = {"id": sandbox}

    async def read(self, path: str, *, encoding: str = "utf-8", errors: str = "strict", user: str | None = None) -> str:
        """A file's content as text. One that is none raises InvalidTextError, unless `errors` says "replace" or "ignore"."""
        return decode_text(path, await self.read_bytes(path, user=user), encoding, errors)

    async def read_bytes(self, path: str, *, user: str | None = None) -> bytes:
        """A file's content, as it is."""
        async with self.stream(path, user=user) as content:
            return b"".join([chunk async for chunk in content])

    @asynccontextmanager
    async def stream(self, path: str, *, user: str | None = None) -> AsyncGenerator[AsyncIterator[bytes], None]:
        """A file's content in pieces: `with sandbox.files.stream(path) as content: for piece in content: …`."""
        async with self._transport.stream("readFile", params=self._params, query={"path": path, "user": user}) as answer:
            yield answer.aiter_bytes()

    async def write(
        self,
        path: str,
        content: AsyncContent,
        *,
        mode: int | None = None,
        parents: bool = False,
        user: str | None = None,
    ) -> Entry:
        """Writes a whole file: text, bytes, an open file, or pieces of bytes. It is there as a whole or not at all."""
        query = {"path": path, "user": user, "mode": None if mode is None else f"{mode:o}", "parents": parents or None}
        answer = await self._transport.upload("writeFile", params=self._params, query=query, content=content)
        return Entry.model_validate(answer)

    async def stat(self, path: str, *, follow: bool = True, user: str | None = None) -> Entry:
        """What is at a path; without `follow` a symbolic link itself."""
        query = {"path": path, "user": user, "follow": follow}
        return Entry.model_validate(await self._transport.json("statFile", params=self._params, query=query))

    async def exists(self, path: str, *, user: str | None = None) -> bool:
        """Whether something is at a path, and be it a symbolic link to nothing."""
        try:
            await self.stat(path, follow=False, user=user)
        except TorporFileNotFoundError:
            return False
        return True

    async def list(self, path: str = ".", *, depth: int | None = None, user: str | None = None) -> list[Entry]:
        """A directory's entries; with `depth` those of its directories too, so many levels down."""
        query = {"path": path, "user": user, "depth": depth}
        answer = await self._transport.json("listFiles", params=self._params, query=query)
        return [Entry.model_validate(each) for each in answer["entries"]]

    @asynccontextmanager
    async def watch(self, path: str, *, recursive: bool = False) -> AsyncGenerator[AsyncIterator[FileChange], None]:
        """What happens to a file or in a directory: `with sandbox.files.watch(path) as changes: for change in changes: …`.

        In the block it watches, and misses nothing. It raises when the path is gone, or the sandbox is paused or ends.
        """
        query = {"path": path, "recursive": recursive or None}
        async with aclosing(self._transport.lines("watchFiles", params=self._params, query=query)) as lines:
            # The first line says that it watches.
            await lines.__anext__()
            yield _changes(lines)

    async def mkdir(self, path: str, *, parents: bool = False, mode: int | None = None, user: str | None = None) -> Entry:
        """Makes a directory; with `parents` those above it too, and one that is there is no error."""
        body = {"path": path, "parents": parents, "mode": mode, "user": user}
        given = {name: value for name, value in body.items() if value is not None}
        return Entry.model_validate(await self._transport.json("makeDirectory", params=self._params, body=given))

    async def move(self, source: str, target: str, *, user: str | None = None) -> Entry:
        """Gives a file or directory another name or place."""
        body = {"from": source, "to": target, **({} if user is None else {"user": user})}
        return Entry.model_validate(await self._transport.json("moveFile", params=self._params, body=body))

    async def remove(self, path: str, *, recursive: bool = False, user: str | None = None) -> None:
        """Removes a file or an empty directory; with `recursive` all that is in it too."""
        query = {"path": path, "user": user, "recursive": recursive or None}
        await self._transport.json("removeFile", params=self._params, query=query)

    async def upload(self, source: str | os.PathLike[str], target: str, *, user: str | None = None) -> None:
        """Copies a file or directory of this machine into the sandbox, as `cp` does: into a directory that is there it goes under its name,
        else the target is its new name. `source/.` means what is in a directory.
        """
        content, mode = await async_blocking(open_local, Path(source))
        with content:
            try:
                there = (await self.stat(target, user=user)).type == "directory"
            except TorporFileNotFoundError:
                there = False
            if there and not means_content(source):
                target = f"{target.rstrip('/')}/{name_of(source)}"
            if mode is not None:
                await self.write(target, content, mode=mode, user=user)
                return
            query = {"path": target, "user": user}
            await self._transport.upload("writeArchive", params=self._params, query=query, content=content)

    async def download(self, source: str, target: str | os.PathLike[str], *, user: str | None = None) -> None:
        """The same the other way. What a sandbox sends is not trusted: nothing is written outside of the target, and there are no devices,
        owners or special permissions.
        """
        entry = await self.stat(source, user=user)
        local = await async_blocking(local_target, Path(target), source)
        if entry.type == "directory":
            await self._download_directory(source, local, user)
        elif entry.type == "file":
            await self._download_file(source, local, user)
        else:
            raise InvalidPathError(f"{source} is neither a file nor a directory")

    async def _download_directory(self, source: str, target: Path, user: str | None) -> None:
        with tempfile.TemporaryFile() as archive:
            query = {"path": source, "user": user}
            async with self._transport.stream("readArchive", params=self._params, query=query) as answer:
                async for chunk in answer.aiter_bytes():
                    await async_blocking(archive.write, chunk)
            archive.seek(0)
            await async_blocking(unpack, archive, target)

    async def _download_file(self, source: str, target: Path, user: str | None) -> None:
        async with self._transport.stream("readFile", params=self._params, query={"path": source, "user": user}) as answer:
            entry = Entry.model_validate(json.loads(unquote(answer.headers["x-torpor-entry"])))
            with temporary_beside(target, entry.mode & 0o777) as file:
                async for chunk in answer.aiter_bytes():
                    await async_blocking(file.write, chunk)


async def _changes(lines: AsyncIterator[dict[str, Any]]) -> AsyncIterator[FileChange]:
    async for line in lines:
        # Others say that it is there.
        if "change" in line:
            yield FileChange.model_validate(line["change"])
