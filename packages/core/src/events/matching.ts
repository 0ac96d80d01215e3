/** Whether a type is one of those that patterns name: `sandbox.paused`, `sandbox.*`, `*`. */
export function isOfTypes(type: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => (pattern.endsWith("*") ? type.startsWith(pattern.slice(0, -1)) : type === pattern));
}
