import { z } from "zod";
import { noSuchFields } from "./no-such-fields.ts";

/** An unknown field of a strict object is told with the one that was probably meant: of all schemas, and by whatever way a request came. */
z.config({
  customError: ({ code, keys, inst }) => {
    if (code !== "unrecognized_keys") return undefined;
    return noSuchFields(keys as string[], inst instanceof z.ZodObject ? Object.keys(inst.shape) : []);
  },
});
