import { expect } from '@jest/globals';

/** Message of a refusal that `expectRefusedPart` expects. */
export const REFUSED = 'you may not';

/**
 * Expects the refusal in place of a field's value.
 * @param isNoted whether the part is also read for the blocker, which adds a note
 */
export function expectRefusedPart(
  { code, out, err }: { code: number; out: string; err: string },
  label: string,
  isNoted: boolean,
): void {
  expect({ code, err }).toEqual({ code: 0, err: isNoted ? `note: not checked: ${REFUSED}\n` : '' });
  expect(out).toMatch(new RegExp(`^${label}: +not shown: ${REFUSED}$`, 'm'));
}
