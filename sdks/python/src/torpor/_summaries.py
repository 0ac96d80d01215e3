"""Answers that have no name of their own in the API."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from torpor._model import Model
from torpor.models import SandboxFork, Wake, Webhook


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


class CreatedWebhook(Model):
    webhook: Webhook
    secret: str


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


class FileChange(Model):
    """What happened to a file: created, modified, written, removed, renamed, attributes; missed: too much at once, look for yourself."""

    change: str
    path: str
    #: The path before, of a rename.
    from_: str | None = Field(alias="from")
    directory: bool


class RunError(Model):
    """What ended a run of an interpreter early; TimeoutError when it was the time limit."""

    name: str
    message: str
    traceback: str


class RunResult(Model):
    stdout: str
    stderr: str
    #: Python: the last line's value, if it is an expression and not None, as `repr` shows it.
    result: str | None
    #: Shell: of the last command.
    exit_code: int | None
    error: RunError | None
