"""Sandboxes that pause, resume and fork with their memory: the client of a Torpor server."""

from torpor import errors, models
from torpor._async.client import AsyncTorpor
from torpor._async.command import AsyncCommand
from torpor._async.port_connection import AsyncPortConnection
from torpor._async.sandbox import AsyncSandbox
from torpor._async.supervised import AsyncSupervised
from torpor._async.terminal import AsyncTerminal
from torpor._error import (
    ConflictError,
    DeniedError,
    InvalidError,
    LimitExceededError,
    NotFoundError,
    ServerFaultError,
    TorporError,
    UnusableError,
)
from torpor._forked import ForkFailedError
from torpor._frames import Output
from torpor._result import CommandFailedError, ExecResult
from torpor._summaries import CreatedWebhook, FamilyMember, FileChange, ImageProgress, Pruned, RunError, RunResult, Version, WakeList
from torpor._sync.client import Torpor
from torpor._sync.command import Command
from torpor._sync.port_connection import PortConnection
from torpor._sync.sandbox import Sandbox
from torpor._sync.supervised import Supervised
from torpor._sync.terminal import Terminal
from torpor._text import InvalidTextError
from torpor._units import Duration
from torpor.errors import SandboxNotFoundError, TorporTimeoutError

__all__ = [
    "AsyncCommand",
    "AsyncPortConnection",
    "AsyncSandbox",
    "AsyncSupervised",
    "AsyncTerminal",
    "AsyncTorpor",
    "Command",
    "CommandFailedError",
    "ConflictError",
    "CreatedWebhook",
    "DeniedError",
    "Duration",
    "ExecResult",
    "FamilyMember",
    "FileChange",
    "ForkFailedError",
    "ImageProgress",
    "InvalidError",
    "InvalidTextError",
    "LimitExceededError",
    "NotFoundError",
    "Output",
    "PortConnection",
    "Pruned",
    "RunError",
    "RunResult",
    "Sandbox",
    "SandboxNotFoundError",
    "ServerFaultError",
    "Supervised",
    "Terminal",
    "Torpor",
    "TorporError",
    "TorporTimeoutError",
    "UnusableError",
    "Version",
    "WakeList",
    "errors",
    "models",
]
