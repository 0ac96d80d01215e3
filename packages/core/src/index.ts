export { toTorporError } from "./failure.ts";
export * from "./ports/index.ts";
export type { Recovery } from "./recovery.ts";
export { type CallOptions, createLifecycle, type EventRange, type Lifecycle } from "./sandboxes.ts";
export { defaultResources } from "./validation.ts";
