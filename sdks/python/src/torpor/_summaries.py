"""Answers that have no name of their own in the API."""

from __future__ import annotations

from datetime import datetime

from torpor._model import Model
from torpor.models import SandboxFork, Wake


class ImageProgress(Model):
    """How far the fetching or making of an image is."""

    step: str
    text: str
    done_bytes: int | None = None
    total_bytes: int | None = None


class Pruned(Model):
    """What a prune of images removed."""

    removed: list[str]
    freed_bytes: int


class WakeList(Model):
    wakes: list[Wake]
    #: Wakes that are stored, and not in the sandbox's queue yet.
    pending: int


class Version(Model):
    version: str
    api: str


class FamilyMember(Model):
    """A sandbox in the tree of forks."""

    id: str
    #: None: it was removed by a server that did not keep it.
    name: str | None
    #: As sandboxes have it, or "gone": it was removed, and others that come from it are there.
    state: str
    parent_id: str | None
    fork: SandboxFork | None
    created_at: datetime | None
    removed_at: datetime | None
