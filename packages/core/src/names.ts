const manners = [
  "quiet",
  "calm",
  "still",
  "gentle",
  "patient",
  "slow",
  "mild",
  "drowsy",
  "snug",
  "warm",
  "soft",
  "sleepy",
  "cosy",
  "hushed",
  "restful",
  "serene",
];
const animals = [
  "otter",
  "dormouse",
  "bat",
  "hedgehog",
  "bear",
  "marmot",
  "squirrel",
  "swift",
  "badger",
  "lemur",
  "hummingbird",
  "frog",
  "tortoise",
  "skunk",
  "poorwill",
  "possum",
];

/** A name for somebody who gave none, like quiet-otter-3f2a; taken from the random id, whose chance makes it unlike others. */
export function generateName(id: string): string {
  let hash = 0;
  for (const character of id) hash = (Math.imul(hash, 31) + character.charCodeAt(0)) >>> 0;
  const suffix = (hash >>> 8).toString(16).padStart(6, "0").slice(-4);
  return `${manners[hash % 16]}-${animals[(hash >>> 4) % 16]}-${suffix}`;
}
