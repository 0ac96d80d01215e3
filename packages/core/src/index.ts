export { toTorporError } from "./failure.ts";
export type { Once } from "./idempotency.ts";
export { type FailpointEntry, failpoints } from "./operations/failpoints.ts";
export * from "./ports/index.ts";
export type { EventRange } from "./reading.ts";
export type { Recovery } from "./recovery.ts";
export { defaultRetention, type Retention } from "./retention.ts";
export { type CallOptions, createLifecycle, type Lifecycle } from "./sandboxes.ts";
export { defaultResources } from "./validation.ts";
