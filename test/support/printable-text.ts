import { expect } from '@jest/globals';

/** Expects text that steers no terminal: no control character but line breaks, and none that changes the direction of text. */
export function expectPrintable(text: string): void {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must be absent.
  expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
}
