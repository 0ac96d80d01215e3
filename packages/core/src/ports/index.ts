export type * from "./checkpoints.ts";
export type * from "./clock.ts";
export type * from "./disks.ts";
export type * from "./engine.ts";
export type * from "./guest.ts";
export type * from "./ids.ts";
export type * from "./images.ts";
export type * from "./network.ts";
export * from "./store.ts";
