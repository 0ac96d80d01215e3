type Defined<T> = { [K in keyof T]: Exclude<T[K], undefined> };

/** Without the fields that were left out: ports take absent fields, never undefined ones. */
export function defined<T extends object>(options: T): Defined<T> {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Defined<T>;
}
