import { test } from "vitest";
import { soak } from "./harness/soak.ts";

test("50 pauses and resumes of a sandbox with much at work lose nothing and leak nothing (P27, P28)", () => soak(50));
