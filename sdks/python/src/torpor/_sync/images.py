# Generated from ../_async by tools/generate.py. Not to be edited.
from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import closing

from torpor._concurrent import Callback, call
from torpor._requests import given
from torpor._summaries import ImageProgress, Pruned
from torpor._sync.transport import Transport
from torpor.models import Image


class Images:
    """The images of a server."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self) -> list[Image]:
        return [Image.model_validate(each) for each in (self._transport.json("listImages"))["images"]]

    def pull(
        self,
        reference: str,
        *,
        username: str | None = None,
        password: str | None = None,
        insecure: bool | None = None,
        on_progress: Callback[ImageProgress] | None = None,
    ) -> Image:
        """Fetches an image from a registry. `insecure`: by plain HTTP, or with a certificate that is not verified."""
        credentials = None if username is None else {"username": username, "password": password or ""}
        body = given(reference=reference, credentials=credentials, insecure=insecure)
        return self._follow("pullImage", body, on_progress)

    def load(
        self,
        path: str | os.PathLike[str],
        reference: str,
        *,
        format: str | None = None,
        on_progress: Callback[ImageProgress] | None = None,
    ) -> Image:
        """Takes an OCI layout, a docker archive or a root file system's tar of the server's machine."""
        return self._follow("importImage", given(path=os.fspath(path), reference=reference, format=format), on_progress)

    def build(
        self,
        reference: str,
        *,
        packages: Sequence[str] | None = None,
        suite: str | None = None,
        on_progress: Callback[ImageProgress] | None = None,
    ) -> Image:
        """Makes a Debian image from packages, without a registry."""
        body = given(reference=reference, packages=None if packages is None else [*packages], suite=suite)
        return self._follow("buildImage", body, on_progress)

    def remove(self, reference: str) -> Image:
        """Takes a reference away, and the image with its last one."""
        return Image.model_validate(self._transport.json("removeImage", query={"reference": reference}))

    def prune(self) -> Pruned:
        """Removes every image that nothing needs."""
        return Pruned.model_validate(self._transport.json("pruneImages"))

    def _follow(self, name: str, body: dict[str, object], on_progress: Callback[ImageProgress] | None) -> Image:
        with closing(self._transport.lines(name, body=body)) as lines:
            for line in lines:
                if "image" in line:
                    return Image.model_validate(line["image"])
                if on_progress is not None:
                    call(on_progress, ImageProgress.model_validate(line["progress"]))
        raise AssertionError("lines end with an image or an error")
