import { directoryWanted } from './directory.ts';
import { DNS_SUBDOMAIN, isDnsSubdomain } from './dns-name.ts';
import { parseQuantity } from './quantity.ts';

/** Largest possible size of a file, in whole blocks of 4096 bytes: offsets are signed. */
const MAX_BYTES = 2n ** 63n - 4096n;

/**
 * Checks of values in a spec. Each returns sentences with the field, the value and the requirement;
 * none if the value is valid.
 */

export function nameProblems(field: string, name: unknown): string[] {
  if (typeof name === 'string' && isDnsSubdomain(name)) return [];
  return [`spec.${field} is ${JSON.stringify(name)}, but must be a name: ${DNS_SUBDOMAIN}`];
}

export function sizeProblems(path: string, size: string | number): string[] {
  const field = `spec.${path}`;
  let bytes: bigint;
  try {
    bytes = parseQuantity(size);
  } catch {
    return [`${field} is ${JSON.stringify(size)}, but must be a quantity of bytes such as 10Gi`];
  }
  if (bytes <= 0n) return [`${field} is ${size}, but must be greater than 0`];
  return bytes > MAX_BYTES ? [`${field} is ${size}, but must be at most ${MAX_BYTES} bytes`] : [];
}

/**
 * Checks for the canonical spelling of a directory: its path is compared
 * with those that a node reports.
 */
export function directoryProblems(path: string, directory: unknown): string[] {
  const wanted = typeof directory === 'string' ? directoryWanted(directory) : 'be a string';
  return wanted === undefined
    ? []
    : [`spec.${path} is ${JSON.stringify(directory)}, but must ${wanted}`];
}
