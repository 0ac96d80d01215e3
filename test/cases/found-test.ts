/** A test that names a case: `id` in its name, or in that of a group around it. */
export type FoundTest = { id: string; file: string; name: string };
