export { Gvisor } from "./gvisor.ts";
export { resolveRunsc } from "./resolve.ts";
