from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import aclosing

from torpor._async.transport import AsyncTransport
from torpor._concurrent import AsyncCallback, async_call
from torpor._requests import given
from torpor._summaries import ImageProgress, Pruned
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
        async with aclosing(self._transport.lines(name, body=body)) as lines:
            async for line in lines:
                if "image" in line:
                    return Image.model_validate(line["image"])
                if on_progress is not None:
                    await async_call(on_progress, ImageProgress.model_validate(line["progress"]))
        raise AssertionError("lines end with an image or an error")
