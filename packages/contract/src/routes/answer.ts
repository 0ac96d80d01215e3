import { z } from "zod";
import { OperationAnswer } from "../operation.ts";
import { type Content, json, queryInteger } from "../route-shape.ts";

/** How long a call waits for its operation; afterwards the answer is 202 and the operation goes on. */
export const defaultWaitMs = 600_000;

export const Wait = z.strictObject({
  wait: queryInteger(defaultWaitMs)
    .optional()
    .describe("Milliseconds to wait for the operation's end; 0 answers 202 at once. Default 600000."),
});

/** For what takes room on the node. */
export const WaitCapacity = Wait.extend({
  waitCapacity: queryInteger(86_400_000)
    .optional()
    .describe("Milliseconds to wait for room on the node, where others hold what is asked for. Default 0: refused at once."),
});

export const done: Record<number, Content> = { 200: json(OperationAnswer), 202: json(OperationAnswer) };
export const made: Record<number, Content> = { 201: json(OperationAnswer), 202: json(OperationAnswer) };
