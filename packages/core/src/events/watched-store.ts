import type { Change, Store } from "../ports/store.ts";

/** The same store; `committed` is called after each commit that may have written events. */
export function watchedStore(store: Store, committed: () => void): Store {
  const commit = async (change: Change): Promise<void> => {
    try {
      await store.commit(change);
    } finally {
      // Also after a failure: it may have taken place all the same.
      if (change.events !== undefined && change.events.length > 0) committed();
    }
  };
  return new Proxy(store, {
    get(target, property) {
      if (property === "commit") return commit;
      const value: unknown = Reflect.get(target, property, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
