import { InvalidArgumentError } from "commander";

// Letters alone are powers of 1024, as in the container tools people come from; KB, MB, … are powers of 1000.
const units: Readonly<Record<string, number>> = {
  "": 1,
  b: 1,
  k: 2 ** 10,
  m: 2 ** 20,
  g: 2 ** 30,
  t: 2 ** 40,
  kib: 2 ** 10,
  mib: 2 ** 20,
  gib: 2 ** 30,
  tib: 2 ** 40,
  kb: 1e3,
  mb: 1e6,
  gb: 1e9,
  tb: 1e12,
};

/** Bytes of a size such as 512MiB, 1.5g or 10GB. */
export function parseSize(text: string): number {
  const [, digits, unit] = /^(\d{1,15}(?:\.\d{1,6})?) ?([a-z]{0,3})$/i.exec(text) ?? [];
  const factor = units[(unit ?? "?").toLowerCase()];
  const bytes = Number(digits) * (factor ?? Number.NaN);
  if (!Number.isSafeInteger(Math.round(bytes)) || bytes < 1) {
    throw new InvalidArgumentError(
      `${JSON.stringify(text)} is no size: write it like 512MiB, 1g or 10GB (KiB and k are 1024 bytes, KB is 1000).`,
    );
  }
  return Math.round(bytes);
}

/** A size for people: three digits or so, in powers of 1024. */
export function formatSize(bytes: number): string {
  const names = ["B", "KiB", "MiB", "GiB", "TiB"];
  let value = bytes;
  let at = 0;
  for (; value >= 1024 && at < names.length - 1; at++) value /= 1024;
  return `${at === 0 ? value : value.toFixed(value < 100 ? 1 : 0)} ${names[at]}`;
}
