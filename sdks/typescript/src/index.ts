export type * from "@torpor/contract";
export { type ErrorCode, TorporError } from "@torpor/contract/error";
export { type DiffOptions, TorporClient, type Waiting, type WaitingForRoom } from "./client.ts";
export type { ClientOptions } from "./endpoint.ts";
export type { EventClient, EventFilter } from "./event-client.ts";
export type { AsUser, FileClient } from "./file-client.ts";
export type { ImageClient, OnProgress } from "./image-client.ts";
export type { ServerFrame, SessionStream } from "./session-stream.ts";
export type { WebhookClient } from "./webhook-client.ts";
