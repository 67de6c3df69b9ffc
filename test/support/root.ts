import { readFileSync } from 'node:fs';
import { describe } from '@jest/globals';

const isRoot = process.getuid?.() === 0;

const reason = '(left out: needs root for loop devices, udev and sshd)';

/**
 * Declares tests that need loop devices, udev or sshd. Without root they are skipped, with a note
 * in the title.
 */
export function describeAsRoot(name: string, tests: () => void): void {
  if (isRoot) describe(name, tests);
  else describe.skip(`${name} ${reason}`, tests);
}

describeAsRoot.each =
  <T extends unknown[]>(table: T[]) =>
  (name: string, tests: (...row: T) => void): void => {
    if (isRoot) describe.each(table)(name, tests);
    else describe.skip(`${name} ${reason}`, () => tests(...(table[0] as T)));
  };

/**
 * Reports CAP_SYS_RESOURCE (capability 24), which the kernel requires to grow a mounted ext4 file
 * system.
 */
export const mayGrowMounted =
  (BigInt(
    `0x${/^CapEff:\s*([0-9a-f]+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0'}`,
  ) >>
    24n) %
    2n ===
  1n;
