import { parseQuantity } from '../../api/quantity.ts';

const UNITS = ['', 'K', 'M', 'G', 'T', 'P', 'E'];

/**
 * Returns a quantity as Kubernetes writes it: with the largest unit of its own
 * kind that leaves a whole number.
 */
export function canonical(value: unknown): unknown {
  const text = String(value);
  const [, binary, decimal] = /^[+-]?[0-9.]+(?:([KMGTPE])i|([kMGTPE])?)$/.exec(text) ?? [];
  // Fractions and exponents stay as written: no user of the sandbox needs them.
  if (
    text.includes('.') ||
    (binary === undefined && decimal === undefined && !/^[+-]?\d+$/.test(text))
  )
    return text;
  const base = binary === undefined ? 1000n : 1024n;
  let [size, unit] = [parseQuantity(text), 0];
  while (size !== 0n && size % base === 0n && unit < UNITS.length - 1) {
    size /= base;
    unit += 1;
  }
  const name = UNITS[unit] ?? '';
  if (binary !== undefined) return `${size}${name === '' ? '' : `${name}i`}`;
  return `${size}${name === 'K' ? 'k' : name}`;
}
