export { download } from "./download.ts";
export type { SandboxPlace } from "./place.ts";
export { type CopyOptions, upload } from "./upload.ts";
