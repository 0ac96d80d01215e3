import { createError } from "../errors.ts";

/** A browser has no files to copy. */
export function upload(): Promise<void> {
  return Promise.reject(
    createError("invalid_request", "a browser can't read files of its host", { hint: "files.write takes a Blob or File." }),
  );
}

export function download(): Promise<void> {
  return Promise.reject(
    createError("invalid_request", "a browser can't write files of its host", { hint: 'files.read with { as: "stream" } has its bytes.' }),
  );
}
