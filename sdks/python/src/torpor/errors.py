"""Generated from api/errors.json by tools/generate.py: a class for each error of the catalogue. Not to be edited."""

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

__all__ = [
    "BodyTooLargeError",
    "BudgetExhaustedError",
    "CapabilityUnsupportedError",
    "CapacityExceededError",
    "CheckpointCorruptError",
    "CheckpointIncompatibleError",
    "CommandNotStartedError",
    "ConflictError",
    "ConnectionLostError",
    "DaemonUnreachableError",
    "DeniedError",
    "DirectoryNotEmptyError",
    "DiskFullError",
    "EngineFailedError",
    "EngineUnavailableError",
    "EventsGoneError",
    "ForbiddenError",
    "IdempotencyConflictError",
    "ImageDigestMismatchError",
    "ImageInUseError",
    "ImageInvalidError",
    "ImageNotFoundError",
    "InternalError",
    "InterpreterBusyError",
    "InvalidArchiveError",
    "InvalidError",
    "InvalidNameError",
    "InvalidPathError",
    "InvalidRequestError",
    "LimitExceededError",
    "NameTakenError",
    "NotFoundError",
    "OperationActiveError",
    "OperationCancelledError",
    "OperationNotCancelableError",
    "OperationNotFoundError",
    "PermissionDeniedError",
    "PortClosedError",
    "PortNotExposedError",
    "RegistryFailedError",
    "RestoreFailedError",
    "ResumeFailedError",
    "RouteNotFoundError",
    "SandboxLiveError",
    "SandboxNotFoundError",
    "SandboxNotPausedError",
    "SandboxNotRunningError",
    "SandboxNotStoppedError",
    "SandboxWakingError",
    "SelfControlDeniedError",
    "ServerFaultError",
    "SessionEndedError",
    "SessionNotFoundError",
    "SessionNotSupervisedError",
    "SessionOutputGoneError",
    "SessionPausedError",
    "ShuttingDownError",
    "SnapshotInUseError",
    "SnapshotNotFoundError",
    "SnapshotPinnedError",
    "StorageFailedError",
    "TargetRefusedError",
    "TokenNotFoundError",
    "TooManyAttemptsError",
    "TooManyPortsError",
    "TooManySessionsError",
    "TooManyStreamsError",
    "TooManyTokensError",
    "TooManyWakesError",
    "TooManyWebhooksError",
    "TorporError",
    "TorporFileExistsError",
    "TorporFileNotFoundError",
    "TorporTimeoutError",
    "UnauthorizedError",
    "UnusableError",
    "VersionMismatchError",
    "WakeNotFoundError",
    "WebhookNotFoundError",
]


class BodyTooLargeError(InvalidError):
    """The request body is over the limit."""

    code = "body_too_large"
    status = 413
    retryable = False


class BudgetExhaustedError(ServerFaultError):
    """The team's prepaid credit is used up: nothing of it runs until a top-up."""

    code = "budget_exhausted"
    status = 402
    retryable = False


class CapabilityUnsupportedError(UnusableError):
    """The engine cannot do this."""

    code = "capability_unsupported"
    status = 422
    retryable = False


class CapacityExceededError(LimitExceededError):
    """The node, or the team's share of it, has not enough memory, CPU or disk for this."""

    code = "capacity_exceeded"
    status = 429
    retryable = True


class CheckpointCorruptError(UnusableError):
    """A part of the checkpoint is damaged or missing."""

    code = "checkpoint_corrupt"
    status = 422
    retryable = False


class CheckpointIncompatibleError(UnusableError):
    """The checkpoint was made by another engine, CPU or disk state."""

    code = "checkpoint_incompatible"
    status = 422
    retryable = False


class CommandNotStartedError(UnusableError):
    """The command could not be started."""

    code = "command_not_started"
    status = 422
    retryable = False


class ConnectionLostError(ServerFaultError):
    """The connection broke in the middle of an answer; only clients report it."""

    code = "connection_lost"
    status = 503
    retryable = True


class DaemonUnreachableError(ServerFaultError):
    """Nothing answers where torpord should; only clients report it."""

    code = "daemon_unreachable"
    status = 503
    retryable = True


class DirectoryNotEmptyError(ConflictError):
    """The directory has entries: remove it recursively."""

    code = "directory_not_empty"
    status = 409
    retryable = False


class DiskFullError(ServerFaultError):
    """The sandbox's disk or the pool is full."""

    code = "disk_full"
    status = 507
    retryable = True


class EngineFailedError(ServerFaultError):
    """The engine failed; the message has its words."""

    code = "engine_failed"
    status = 500
    retryable = True


class EngineUnavailableError(ServerFaultError):
    """No usable engine is on this host."""

    code = "engine_unavailable"
    status = 503
    retryable = False


class EventsGoneError(ConflictError):
    """Some events after that sequence number are no longer kept."""

    code = "events_gone"
    status = 410
    retryable = False


class TorporFileExistsError(ConflictError):
    """There is something at that path already."""

    code = "file_exists"
    status = 409
    retryable = False


class TorporFileNotFoundError(NotFoundError):
    """There is no file at that path in the sandbox."""

    code = "file_not_found"
    status = 404
    retryable = False


class ForbiddenError(DeniedError):
    """The caller's scopes, team, or the page that it comes from do not allow the call."""

    code = "forbidden"
    status = 403
    retryable = False


class IdempotencyConflictError(ConflictError):
    """The idempotency key came with another request before."""

    code = "idempotency_conflict"
    status = 409
    retryable = False


class ImageDigestMismatchError(UnusableError):
    """The image's content is not what its digest says."""

    code = "image_digest_mismatch"
    status = 422
    retryable = False


class ImageInUseError(ConflictError):
    """Sandboxes, checkpoints or snapshots need the image."""

    code = "image_in_use"
    status = 409
    retryable = False


class ImageInvalidError(UnusableError):
    """The image is damaged, hostile, or not for this platform."""

    code = "image_invalid"
    status = 422
    retryable = False


class ImageNotFoundError(NotFoundError):
    """The image is neither here nor at its source."""

    code = "image_not_found"
    status = 404
    retryable = False


class InternalError(ServerFaultError):
    """A fault in Torpor: the daemon's log has the details."""

    code = "internal"
    status = 500
    retryable = False


class InterpreterBusyError(ConflictError):
    """The interpreter runs something else."""

    code = "interpreter_busy"
    status = 409
    retryable = True


class InvalidArchiveError(InvalidError):
    """A tar stream is damaged or would write outside its target."""

    code = "invalid_archive"
    status = 400
    retryable = False


class InvalidNameError(InvalidError):
    """A name is malformed or reserved."""

    code = "invalid_name"
    status = 400
    retryable = False


class InvalidPathError(InvalidError):
    """A path is empty, has a NUL byte, or is of the wrong kind."""

    code = "invalid_path"
    status = 400
    retryable = False


class InvalidRequestError(InvalidError):
    """The request has a wrong or missing field."""

    code = "invalid_request"
    status = 400
    retryable = False


class NameTakenError(ConflictError):
    """Another sandbox, snapshot or token has that name."""

    code = "name_taken"
    status = 409
    retryable = False


class OperationActiveError(ConflictError):
    """Another operation works on the sandbox."""

    code = "operation_active"
    status = 409
    retryable = True


class OperationCancelledError(ConflictError):
    """The operation was given up and undone, as somebody asked for."""

    code = "operation_cancelled"
    status = 409
    retryable = False


class OperationNotCancelableError(ConflictError):
    """The operation has ended, or can only go forward."""

    code = "operation_not_cancelable"
    status = 409
    retryable = False


class OperationNotFoundError(NotFoundError):
    """There is no operation with that id."""

    code = "operation_not_found"
    status = 404
    retryable = False


class PermissionDeniedError(DeniedError):
    """The sandbox's user may not do this to the file."""

    code = "permission_denied"
    status = 403
    retryable = False


class PortClosedError(ServerFaultError):
    """Nothing listens on that port in the sandbox."""

    code = "port_closed"
    status = 502
    retryable = True


class PortNotExposedError(NotFoundError):
    """That port of the sandbox has no address."""

    code = "port_not_exposed"
    status = 404
    retryable = False


class RegistryFailedError(ServerFaultError):
    """The image's registry refused or could not be reached."""

    code = "registry_failed"
    status = 502
    retryable = True


class RestoreFailedError(ServerFaultError):
    """The checkpoint could not be restored; it is kept."""

    code = "restore_failed"
    status = 500
    retryable = True


class ResumeFailedError(ServerFaultError):
    """A call could not wake the paused sandbox; the next try is after Retry-After."""

    code = "resume_failed"
    status = 503
    retryable = True


class RouteNotFoundError(NotFoundError):
    """The server has no such route."""

    code = "route_not_found"
    status = 404
    retryable = False


class SandboxLiveError(ConflictError):
    """The sandbox is live: stop it first or use force."""

    code = "sandbox_live"
    status = 409
    retryable = False


class SandboxNotFoundError(NotFoundError):
    """There is no sandbox with that id or name."""

    code = "sandbox_not_found"
    status = 404
    retryable = False


class SandboxNotPausedError(ConflictError):
    """The call needs a paused sandbox."""

    code = "sandbox_not_paused"
    status = 409
    retryable = False


class SandboxNotRunningError(ConflictError):
    """The call needs a running sandbox."""

    code = "sandbox_not_running"
    status = 409
    retryable = False


class SandboxNotStoppedError(ConflictError):
    """The call needs a stopped sandbox."""

    code = "sandbox_not_stopped"
    status = 409
    retryable = False


class SandboxWakingError(ServerFaultError):
    """A call woke the paused sandbox, which takes longer than the call waits."""

    code = "sandbox_waking"
    status = 503
    retryable = True


class SelfControlDeniedError(DeniedError):
    """The sandbox's processes may not do this with it."""

    code = "self_control_denied"
    status = 403
    retryable = False


class SessionEndedError(ConflictError):
    """The session has ended."""

    code = "session_ended"
    status = 409
    retryable = False


class SessionNotFoundError(NotFoundError):
    """The sandbox has no session with that id."""

    code = "session_not_found"
    status = 404
    retryable = False


class SessionNotSupervisedError(ConflictError):
    """The session is not supervised: it cannot be started again."""

    code = "session_not_supervised"
    status = 409
    retryable = False


class SessionOutputGoneError(ConflictError):
    """Output after that sequence number is no longer kept."""

    code = "session_output_gone"
    status = 410
    retryable = False


class SessionPausedError(ConflictError):
    """The stream ended since the sandbox was paused."""

    code = "session_paused"
    status = 409
    retryable = True


class ShuttingDownError(ServerFaultError):
    """The daemon is about to end."""

    code = "shutting_down"
    status = 503
    retryable = True


class SnapshotInUseError(ConflictError):
    """A sandbox is being made from the snapshot or restored to it."""

    code = "snapshot_in_use"
    status = 409
    retryable = True


class SnapshotNotFoundError(NotFoundError):
    """There is no snapshot with that id or name."""

    code = "snapshot_not_found"
    status = 404
    retryable = False


class SnapshotPinnedError(ConflictError):
    """The snapshot is pinned: unpin it first."""

    code = "snapshot_pinned"
    status = 409
    retryable = False


class StorageFailedError(ServerFaultError):
    """The pool or the store failed."""

    code = "storage_failed"
    status = 500
    retryable = True


class TargetRefusedError(UnusableError):
    """Webhooks may not be sent to that address."""

    code = "target_refused"
    status = 422
    retryable = False


class TorporTimeoutError(ServerFaultError):
    """It took longer than its time limit."""

    code = "timeout"
    status = 504
    retryable = True


class TokenNotFoundError(NotFoundError):
    """There is no token with that id or name."""

    code = "token_not_found"
    status = 404
    retryable = False


class TooManyAttemptsError(LimitExceededError):
    """Signing in failed too often from that address."""

    code = "too_many_attempts"
    status = 429
    retryable = True


class TooManyPortsError(LimitExceededError):
    """The sandbox has as many ports with an address as it may have."""

    code = "too_many_ports"
    status = 429
    retryable = False


class TooManySessionsError(LimitExceededError):
    """The sandbox has as many sessions as it may have."""

    code = "too_many_sessions"
    status = 429
    retryable = True


class TooManyStreamsError(LimitExceededError):
    """The daemon has as many readers of events as it may have."""

    code = "too_many_streams"
    status = 429
    retryable = True


class TooManyTokensError(LimitExceededError):
    """There are as many tokens as there may be."""

    code = "too_many_tokens"
    status = 429
    retryable = False


class TooManyWakesError(LimitExceededError):
    """The sandbox has as many wakes, or wakes that wait for it, as it may have."""

    code = "too_many_wakes"
    status = 429
    retryable = True


class TooManyWebhooksError(LimitExceededError):
    """There are as many webhooks as there may be."""

    code = "too_many_webhooks"
    status = 429
    retryable = False


class UnauthorizedError(DeniedError):
    """No valid token came with the call, or it is not known any more."""

    code = "unauthorized"
    status = 401
    retryable = False


class VersionMismatchError(ServerFaultError):
    """The daemon is of another version than the client; only clients report it."""

    code = "version_mismatch"
    status = 501
    retryable = False


class WakeNotFoundError(NotFoundError):
    """There is no such wake: it was revoked, or its sandbox removed."""

    code = "wake_not_found"
    status = 404
    retryable = False


class WebhookNotFoundError(NotFoundError):
    """There is no webhook with that id."""

    code = "webhook_not_found"
    status = 404
    retryable = False


#: The class of each code.
ERRORS: dict[str, type[TorporError]] = {
    "body_too_large": BodyTooLargeError,
    "budget_exhausted": BudgetExhaustedError,
    "capability_unsupported": CapabilityUnsupportedError,
    "capacity_exceeded": CapacityExceededError,
    "checkpoint_corrupt": CheckpointCorruptError,
    "checkpoint_incompatible": CheckpointIncompatibleError,
    "command_not_started": CommandNotStartedError,
    "connection_lost": ConnectionLostError,
    "daemon_unreachable": DaemonUnreachableError,
    "directory_not_empty": DirectoryNotEmptyError,
    "disk_full": DiskFullError,
    "engine_failed": EngineFailedError,
    "engine_unavailable": EngineUnavailableError,
    "events_gone": EventsGoneError,
    "file_exists": TorporFileExistsError,
    "file_not_found": TorporFileNotFoundError,
    "forbidden": ForbiddenError,
    "idempotency_conflict": IdempotencyConflictError,
    "image_digest_mismatch": ImageDigestMismatchError,
    "image_in_use": ImageInUseError,
    "image_invalid": ImageInvalidError,
    "image_not_found": ImageNotFoundError,
    "internal": InternalError,
    "interpreter_busy": InterpreterBusyError,
    "invalid_archive": InvalidArchiveError,
    "invalid_name": InvalidNameError,
    "invalid_path": InvalidPathError,
    "invalid_request": InvalidRequestError,
    "name_taken": NameTakenError,
    "operation_active": OperationActiveError,
    "operation_cancelled": OperationCancelledError,
    "operation_not_cancelable": OperationNotCancelableError,
    "operation_not_found": OperationNotFoundError,
    "permission_denied": PermissionDeniedError,
    "port_closed": PortClosedError,
    "port_not_exposed": PortNotExposedError,
    "registry_failed": RegistryFailedError,
    "restore_failed": RestoreFailedError,
    "resume_failed": ResumeFailedError,
    "route_not_found": RouteNotFoundError,
    "sandbox_live": SandboxLiveError,
    "sandbox_not_found": SandboxNotFoundError,
    "sandbox_not_paused": SandboxNotPausedError,
    "sandbox_not_running": SandboxNotRunningError,
    "sandbox_not_stopped": SandboxNotStoppedError,
    "sandbox_waking": SandboxWakingError,
    "self_control_denied": SelfControlDeniedError,
    "session_ended": SessionEndedError,
    "session_not_found": SessionNotFoundError,
    "session_not_supervised": SessionNotSupervisedError,
    "session_output_gone": SessionOutputGoneError,
    "session_paused": SessionPausedError,
    "shutting_down": ShuttingDownError,
    "snapshot_in_use": SnapshotInUseError,
    "snapshot_not_found": SnapshotNotFoundError,
    "snapshot_pinned": SnapshotPinnedError,
    "storage_failed": StorageFailedError,
    "target_refused": TargetRefusedError,
    "timeout": TorporTimeoutError,
    "token_not_found": TokenNotFoundError,
    "too_many_attempts": TooManyAttemptsError,
    "too_many_ports": TooManyPortsError,
    "too_many_sessions": TooManySessionsError,
    "too_many_streams": TooManyStreamsError,
    "too_many_tokens": TooManyTokensError,
    "too_many_wakes": TooManyWakesError,
    "too_many_webhooks": TooManyWebhooksError,
    "unauthorized": UnauthorizedError,
    "version_mismatch": VersionMismatchError,
    "wake_not_found": WakeNotFoundError,
    "webhook_not_found": WebhookNotFoundError,
}
