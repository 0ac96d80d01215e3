/**
 * The closed catalogue of errors. Clients match on `code`; the message names the thing, the cause and the next step.
 * `status` is the HTTP status; `retryable` says that the same call may succeed later without a change by the caller.
 */
export const errorCatalogue = {
  invalid_request: { status: 400, retryable: false, summary: "The request has a wrong or missing field." },
  invalid_name: { status: 400, retryable: false, summary: "A name is malformed or reserved." },
  invalid_path: { status: 400, retryable: false, summary: "A path is empty, has a NUL byte, or is of the wrong kind." },
  invalid_archive: { status: 400, retryable: false, summary: "A tar stream is damaged or would write outside its target." },
  unauthorized: { status: 401, retryable: false, summary: "No valid token came with the call, or it is not known any more." },
  budget_exhausted: { status: 402, retryable: false, summary: "The team's prepaid credit is used up: nothing of it runs until a top-up." },
  forbidden: { status: 403, retryable: false, summary: "The caller's scopes, team, or the page that it comes from do not allow the call." },
  self_control_denied: { status: 403, retryable: false, summary: "The sandbox's processes may not do this with it." },
  permission_denied: { status: 403, retryable: false, summary: "The sandbox's user may not do this to the file." },
  sandbox_not_found: { status: 404, retryable: false, summary: "There is no sandbox with that id or name." },
  operation_not_found: { status: 404, retryable: false, summary: "There is no operation with that id." },
  session_not_found: { status: 404, retryable: false, summary: "The sandbox has no session with that id." },
  snapshot_not_found: { status: 404, retryable: false, summary: "There is no snapshot with that id or name." },
  image_not_found: { status: 404, retryable: false, summary: "The image is neither here nor at its source." },
  webhook_not_found: { status: 404, retryable: false, summary: "There is no webhook with that id." },
  token_not_found: { status: 404, retryable: false, summary: "There is no token with that id or name." },
  file_not_found: { status: 404, retryable: false, summary: "There is no file at that path in the sandbox." },
  wake_not_found: { status: 404, retryable: false, summary: "There is no such wake: it was revoked, or its sandbox removed." },
  port_not_exposed: { status: 404, retryable: false, summary: "That port of the sandbox has no address." },
  route_not_found: { status: 404, retryable: false, summary: "The server has no such route." },
  name_taken: { status: 409, retryable: false, summary: "Another sandbox, snapshot or token has that name." },
  sandbox_not_running: { status: 409, retryable: false, summary: "The call needs a running sandbox." },
  sandbox_not_paused: { status: 409, retryable: false, summary: "The call needs a paused sandbox." },
  sandbox_not_stopped: { status: 409, retryable: false, summary: "The call needs a stopped sandbox." },
  sandbox_live: { status: 409, retryable: false, summary: "The sandbox is live: stop it first or use force." },
  operation_active: { status: 409, retryable: true, summary: "Another operation works on the sandbox." },
  operation_cancelled: { status: 409, retryable: false, summary: "The operation was given up and undone, as somebody asked for." },
  operation_not_cancelable: { status: 409, retryable: false, summary: "The operation has ended, or can only go forward." },
  session_ended: { status: 409, retryable: false, summary: "The session has ended." },
  session_not_supervised: { status: 409, retryable: false, summary: "The session is not supervised: it cannot be started again." },
  interpreter_busy: { status: 409, retryable: true, summary: "The interpreter runs something else." },
  session_paused: { status: 409, retryable: true, summary: "The stream ended since the sandbox was paused." },
  file_exists: { status: 409, retryable: false, summary: "There is something at that path already." },
  directory_not_empty: { status: 409, retryable: false, summary: "The directory has entries: remove it recursively." },
  image_in_use: { status: 409, retryable: false, summary: "Sandboxes, checkpoints or snapshots need the image." },
  snapshot_in_use: { status: 409, retryable: true, summary: "A sandbox is being made from the snapshot or restored to it." },
  snapshot_pinned: { status: 409, retryable: false, summary: "The snapshot is pinned: unpin it first." },
  idempotency_conflict: { status: 409, retryable: false, summary: "The idempotency key came with another request before." },
  session_output_gone: { status: 410, retryable: false, summary: "Output after that sequence number is no longer kept." },
  events_gone: { status: 410, retryable: false, summary: "Some events after that sequence number are no longer kept." },
  body_too_large: { status: 413, retryable: false, summary: "The request body is over the limit." },
  command_not_started: { status: 422, retryable: false, summary: "The command could not be started." },
  capability_unsupported: { status: 422, retryable: false, summary: "The engine cannot do this." },
  image_invalid: { status: 422, retryable: false, summary: "The image is damaged, hostile, or not for this platform." },
  image_digest_mismatch: { status: 422, retryable: false, summary: "The image's content is not what its digest says." },
  target_refused: { status: 422, retryable: false, summary: "Webhooks may not be sent to that address." },
  checkpoint_corrupt: { status: 422, retryable: false, summary: "A part of the checkpoint is damaged or missing." },
  checkpoint_incompatible: { status: 422, retryable: false, summary: "The checkpoint was made by another engine, CPU or disk state." },
  capacity_exceeded: {
    status: 429,
    retryable: true,
    summary: "The node, or the team's share of it, has not enough memory, CPU or disk for this.",
  },
  too_many_ports: { status: 429, retryable: false, summary: "The sandbox has as many ports with an address as it may have." },
  too_many_wakes: { status: 429, retryable: true, summary: "The sandbox has as many wakes, or wakes that wait for it, as it may have." },
  too_many_sessions: { status: 429, retryable: true, summary: "The sandbox has as many sessions as it may have." },
  too_many_streams: { status: 429, retryable: true, summary: "The daemon has as many readers of events as it may have." },
  too_many_tokens: { status: 429, retryable: false, summary: "There are as many tokens as there may be." },
  too_many_attempts: { status: 429, retryable: true, summary: "Signing in failed too often from that address." },
  too_many_webhooks: { status: 429, retryable: false, summary: "There are as many webhooks as there may be." },
  internal: { status: 500, retryable: false, summary: "A fault in Torpor: the daemon's log has the details." },
  engine_failed: { status: 500, retryable: true, summary: "The engine failed; the message has its words." },
  storage_failed: { status: 500, retryable: true, summary: "The pool or the store failed." },
  restore_failed: { status: 500, retryable: true, summary: "The checkpoint could not be restored; it is kept." },
  port_closed: { status: 502, retryable: true, summary: "Nothing listens on that port in the sandbox." },
  registry_failed: { status: 502, retryable: true, summary: "The image's registry refused or could not be reached." },
  engine_unavailable: { status: 503, retryable: false, summary: "No usable engine is on this host." },
  version_mismatch: { status: 501, retryable: false, summary: "The daemon is of another version than the client; only clients report it." },
  connection_lost: { status: 503, retryable: true, summary: "The connection broke in the middle of an answer; only clients report it." },
  daemon_unreachable: { status: 503, retryable: true, summary: "Nothing answers where torpord should; only clients report it." },
  resume_failed: { status: 503, retryable: true, summary: "A call could not wake the paused sandbox; the next try is after Retry-After." },
  sandbox_waking: { status: 503, retryable: true, summary: "A call woke the paused sandbox, which takes longer than the call waits." },
  shutting_down: { status: 503, retryable: true, summary: "The daemon is about to end." },
  timeout: { status: 504, retryable: true, summary: "It took longer than its time limit." },
  disk_full: { status: 507, retryable: true, summary: "The sandbox's disk or the pool is full." },
} as const satisfies Record<string, { status: number; retryable: boolean; summary: string }>;

export type ErrorCode = keyof typeof errorCatalogue;

export const errorCodes = Object.keys(errorCatalogue) as ErrorCode[];

/** What every refusal and failure is, on both sides of the wire. */
export class TorporError extends Error {
  override readonly name: string = "TorporError";
  readonly code: ErrorCode;
  /** The next step, as a sentence. */
  readonly hint: string | undefined;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: ErrorCode, message: string, options: { hint?: string; details?: Record<string, unknown>; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.hint = options.hint;
    this.details = options.details ?? {};
  }

  get status(): number {
    return errorCatalogue[this.code].status;
  }

  get retryable(): boolean {
    return errorCatalogue[this.code].retryable;
  }
}
