import { expect } from '@jest/globals';
import type { AnyEvent } from '../../src/api/core.ts';
import { COMPONENT, VOLUMES_ATTACHED_CONDITION } from '../../src/api/names.ts';
import { seeded, seedOf } from './random.ts';

/**
 * Checks that `why` reads only codes of Stowage: the same facts with other messages have the same
 * cause. `npm run test:codes` uses new messages in each run.
 */

const random = seeded(seedOf());

/** Text pieces of generated messages, including those that patterns of earlier versions matched. */
const WORDS = ['is in use:', 'attempt', 'node', 'cannot be seen,', 'overwrite:', '"ext4"', 'sudo'];

const sentence = (): string =>
  Array.from({ length: 1 + Math.floor(random() * 9) }, () =>
    random() < 0.3
      ? WORDS[Math.floor(random() * WORDS.length)]
      : Math.floor(random() * 36 ** 8).toString(36),
  ).join(' ');

type Json = Record<string, unknown>;

/** Reports whether an object inside an API object of a kind has a message of Stowage. */
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

/** Returns the facts with each message of Stowage replaced by another one. */
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

/** Expects the same cause and the same commands of a diagnosis, whatever the messages are. */
export function expectByCodes<Facts>(diagnose: (facts: Facts) => object, facts: Facts): void {
  const told = ({ cause, fix }: { cause?: string; fix?: { run?: string[] } }) => [cause, fix?.run];
  expect(told(diagnose(scrambled(facts)))).toEqual(told(diagnose(facts)));
}
