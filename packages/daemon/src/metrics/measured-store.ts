import type { Change, Store } from "@torpor/core";
import type { Metrics } from "./metrics.ts";

/** The same store; operations that end with a commit are counted. */
export function measuredStore(store: Store, metrics: Metrics): Store {
  const commit = async (change: Change): Promise<void> => {
    await store.commit(change);
    for (const operation of change.operations ?? []) if (operation.status !== "running") metrics.operationEnded(operation);
  };
  return new Proxy(store, {
    get(target, property) {
      if (property === "commit") return commit;
      const value: unknown = Reflect.get(target, property, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
