/** Sets an entry of a map that remembers at most so many: the one that was set longest ago goes for it. */
export function setLatest<K, V>(map: Map<K, V>, key: K, value: V, limit: number): void {
  map.delete(key);
  map.set(key, value);
  for (const oldest of map.keys()) {
    if (map.size <= limit) return;
    map.delete(oldest);
  }
}
