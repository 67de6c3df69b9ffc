import { expect } from '@jest/globals';
import type { AnyEvent } from '../../src/api/core.ts';
import { COMPONENT, VOLUMES_ATTACHED_CONDITION } from '../../src/api/names.ts';
import { seeded, seedOf } from './random.ts';

/**
 * What `why` reads of Stowage's own is codes: the same facts with other sentences have the same cause. `npm run test:codes` has
 * other sentences each time.
 */

const random = seeded(seedOf());

/** Words that patterns of earlier versions looked for are among the others. */
const WORDS = ['is in use:', 'attempt', 'node', 'cannot be seen,', 'overwrite:', '"ext4"', 'sudo'];

const sentence = (): string =>
  Array.from({ length: 1 + Math.floor(random() * 9) }, () =>
    random() < 0.3
      ? WORDS[Math.floor(random() * WORDS.length)]
      : Math.floor(random() * 36 ** 8).toString(36),
  ).join(' ');

type Json = Record<string, unknown>;

/** Whether an object that is somewhere in one of a kind has a message of Stowage's. */
function isOwn(object: Json, kind: unknown, path: readonly string[]): boolean {
  switch (kind) {
    case 'Volume':
      return path.includes('conditions') || path.includes('attachments');
    case 'Pod':
      return object.type === VOLUMES_ATTACHED_CONDITION;
    case 'VolumeSnapshot':
    case 'VolumeSnapshotContent':
      return path.at(-1) === 'error';
    default: {
      const { involvedObject, reportingComponent, source } = object as Partial<AnyEvent>;
      return involvedObject != null && (reportingComponent || source?.component) === COMPONENT;
    }
  }
}

/** The same facts, in which each message of Stowage's is another one. */
export function scrambled<T>(facts: T, kind?: unknown, path: readonly string[] = []): T {
  if (typeof facts !== 'object' || facts === null) return facts;
  if (Array.isArray(facts)) return facts.map((each) => scrambled(each, kind, path)) as T;
  const object = facts as Json;
  const of = 'metadata' in object ? object.kind : kind;
  const parts = Object.entries(object).map(([key, value]) => [
    key,
    key === 'message' && typeof value === 'string' && value !== '' && isOwn(object, of, path)
      ? sentence()
      : scrambled(value, of, [...path, key]),
  ]);
  return Object.fromEntries(parts) as T;
}

/** Holds a diagnosis to the same cause and the same commands whatever the messages are. */
export function expectByCodes<Facts>(diagnose: (facts: Facts) => object, facts: Facts): void {
  const told = ({ cause, fix }: { cause?: string; fix?: { run?: string[] } }) => [cause, fix?.run];
  expect(told(diagnose(scrambled(facts)))).toEqual(told(diagnose(facts)));
}
