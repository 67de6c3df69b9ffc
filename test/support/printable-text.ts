import { expect } from '@jest/globals';

/**
 * Expects text that cannot control a terminal: without control characters except line breaks, and
 * without a change of the text direction.
 */
export function expectPrintable(text: string): void {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must be absent.
  expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
}
