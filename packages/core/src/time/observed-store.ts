import { type Change, isUnknown, type Store } from "../ports/store.ts";

/** The same store, but each change that was made, or may have been, is told. */
export function observedStore(store: Store, observe: (change: Change) => void): Store {
  const commit = async (change: Change): Promise<void> => {
    try {
      await store.commit(change);
    } catch (error) {
      if (isUnknown(error)) observe(change);
      throw error;
    }
    observe(change);
  };
  return new Proxy(store, {
    get(target, property) {
      if (property === "commit") return commit;
      const value: unknown = Reflect.get(target, property);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
