from __future__ import annotations

import json
import os
from collections.abc import Sequence

from torpor._async.transport import AsyncTransport
from torpor._concurrent import AsyncCallback, async_call
from torpor._failure import failure_of
from torpor._lines import LineReader
from torpor._requests import given
from torpor._summaries import ImageProgress, Pruned
from torpor.errors import DaemonUnreachableError
from torpor.models import Image


class AsyncImages:
    """The images of a server."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def list(self) -> list[Image]:
        return [Image.model_validate(each) for each in (await self._transport.json("listImages"))["images"]]

    async def pull(
        self,
        reference: str,
        *,
        username: str | None = None,
        password: str | None = None,
        insecure: bool | None = None,
        on_progress: AsyncCallback[ImageProgress] | None = None,
    ) -> Image:
        """Fetches an image from a registry. `insecure`: by plain HTTP, or with a certificate that is not verified."""
        credentials = None if username is None else {"username": username, "password": password or ""}
        body = given(reference=reference, credentials=credentials, insecure=insecure)
        return await self._follow("pullImage", body, on_progress)

    async def load(
        self,
        path: str | os.PathLike[str],
        reference: str,
        *,
        format: str | None = None,
        on_progress: AsyncCallback[ImageProgress] | None = None,
    ) -> Image:
        """Takes an OCI layout, a docker archive or a root file system's tar of the server's machine."""
        return await self._follow("importImage", given(path=os.fspath(path), reference=reference, format=format), on_progress)

    async def build(
        self,
        reference: str,
        *,
        packages: Sequence[str] | None = None,
        suite: str | None = None,
        on_progress: AsyncCallback[ImageProgress] | None = None,
    ) -> Image:
        """Makes a Debian image from packages, without a registry."""
        body = given(reference=reference, packages=None if packages is None else [*packages], suite=suite)
        return await self._follow("buildImage", body, on_progress)

    async def remove(self, reference: str) -> Image:
        """Takes a reference away, and the image with its last one."""
        return Image.model_validate(await self._transport.json("removeImage", query={"reference": reference}))

    async def prune(self) -> Pruned:
        """Removes every image that nothing needs."""
        return Pruned.model_validate(await self._transport.json("pruneImages"))

    async def _follow(self, name: str, body: dict[str, object], on_progress: AsyncCallback[ImageProgress] | None) -> Image:
        lines = LineReader()
        async with self._transport.stream(name, body=body, headers={"accept": "application/x-ndjson"}) as answer:
            async for chunk in answer.aiter_bytes():
                for line in lines.feed(chunk):
                    if not line:
                        continue
                    message = json.loads(line)
                    if "image" in message:
                        return Image.model_validate(message["image"])
                    if "error" in message:
                        raise failure_of(message)
                    if on_progress is not None:
                        await async_call(on_progress, ImageProgress.model_validate(message["progress"]))
        raise DaemonUnreachableError(
            "the connection to torpord broke off before the image was there",
            hint="The work goes on: ask again for its outcome.",
        )
