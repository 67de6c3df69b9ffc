const UNITS = ['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];

/** Returns bytes as a quantity for people, rounded down to at least two digits. */
export function roundedSize(bytes: number): string {
  const power = Math.min(Math.floor(Math.log2(Math.max(bytes, 1)) / 10), UNITS.length);
  if (power === 0) return String(bytes);
  const count = bytes / 1024 ** power;
  return `${count < 10 ? Math.floor(count * 10) / 10 : Math.floor(count)}${UNITS[power - 1]}`;
}
