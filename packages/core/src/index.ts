export { toTorporError } from "./failure.ts";
export * from "./ports/index.ts";
export type { Recovery } from "./recovery.ts";
export { type Answer, type CallOptions, createLifecycle, type Lifecycle } from "./sandboxes.ts";
export { defaultResources } from "./validation.ts";
