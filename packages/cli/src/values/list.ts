/** Gathers an option that may come several times. */
export function addText(text: string, earlier: readonly string[] = []): readonly string[] {
  return [...earlier, text];
}
