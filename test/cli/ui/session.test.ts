import { expect, test } from '@jest/globals';
import { createSession, type Session, TOKEN_MS } from '../../../src/cli/ui/session.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const clock = new FakeClock();

test.each<[string, number, (session: Session, token: string) => unknown]>([
  ['at once', 0, () => {}],
  ['just before its end', TOKEN_MS - 1, () => {}],
])('a token is exchanged once: %s', async (_when, ms, before) => {
  const session = createSession(clock);
  const { token, ended } = session.issue();
  before(session, token);
  await clock.advance(ms);
  const key = session.exchange(token);
  expect(session.admits(key ?? '')).toBe(true);
  expect(ended.aborted).toBe(true);
  expect(session.exchange(token)).toBeUndefined();
});

test.each<[string, (session: Session, token: string) => Promise<unknown> | unknown]>([
  ['late', () => clock.advance(TOKEN_MS)],
  ['replaced', (session) => session.issue()],
  ['void', (session) => session.end()],
])('a token is not exchanged when it is %s', async (_why, before) => {
  const session = createSession(clock);
  const { token } = session.issue();
  await before(session, token);
  expect(session.exchange(token)).toBeUndefined();
});

test('a token ends while the machine sleeps, and a clock that is set back does not prolong it', async () => {
  const session = createSession(clock);
  const slept = session.issue();
  clock.set(TOKEN_MS);
  expect(session.exchange(slept.token)).toBeUndefined();
  const { token } = session.issue();
  clock.set(-TOKEN_MS);
  await clock.advance(TOKEN_MS);
  expect(session.exchange(token)).toBeUndefined();
});

test.each(['', 'x', 'A'.repeat(43), 'ä'.repeat(5000)])('other text is no token: %#', (text) => {
  const session = createSession(clock);
  const { token } = session.issue();
  expect(session.exchange(text)).toBeUndefined();
  expect(session.admits(text)).toBe(false);
  // A wrong attempt does not void the token of the user.
  expect(session.exchange(token)).toBeDefined();
});

test('a token is no key, and a key is no token', () => {
  const session = createSession(clock);
  const { token } = session.issue();
  expect(session.admits(token)).toBe(false);
  const key = session.exchange(token) ?? '';
  session.issue();
  expect(session.exchange(key)).toBeUndefined();
});

test('a replaced token ends, and each secret has 256 bits', () => {
  const sizes: number[] = [];
  const session = createSession(clock, (bytes) => {
    sizes.push(bytes);
    return Buffer.alloc(bytes, sizes.length);
  });
  const { ended } = session.issue();
  expect(ended.aborted).toBe(false);
  const { token } = session.issue();
  expect(ended.aborted).toBe(true);
  session.exchange(token);
  expect(sizes).toEqual([32, 32, 32]);
});

test('each tab has a key, and the oldest of too many ends', () => {
  const session = createSession(clock);
  const keys = Array.from({ length: 17 }, () => session.exchange(session.issue().token) ?? '');
  expect(keys.map((key) => session.admits(key))).toEqual([false, ...Array(16).fill(true)]);
});
