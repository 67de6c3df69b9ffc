import fc from 'fast-check';
import { POPULATED_BY_ANNOTATION } from '../../src/api/names.ts';
import { formatHandle, parseHandle } from '../../src/api/snapshot-handle.ts';
import {
  attachmentsFromAnnotation,
  recordOf,
  recordToWrite,
} from '../../src/controllers/attachdetach/attached-nodes-annotation.ts';
import { decideBackup } from '../../src/controllers/backup/decide-backup.ts';
import { decide } from '../../src/controllers/populator/decide.ts';
import { primeNameOf } from '../../src/controllers/populator/objects.ts';
import { decideContent } from '../../src/controllers/snapshot/decide-content.ts';
import { decideSnapshot } from '../../src/controllers/snapshot/decide-snapshot.ts';
import * as backups from '../controllers/backup/backup-objects.ts';
import * as fill from '../controllers/populator/input.ts';
import * as snapshots from '../support/snapshot-objects.ts';
import { anything, text, word } from './hostile.ts';
import { type Target, tame } from './target.ts';

/**
 * Change of a field, or its removal if undefined. The server validates types: a string remains a
 * string.
 */
type Change = readonly [at: number, to: string | number | undefined];

const DELETED = '2026-01-02T03:00:00Z';
const change: fc.Arbitrary<Change> = fc.tuple(
  fc.nat(200),
  fc.oneof(
    text,
    word,
    fc.integer(),
    // Values of the other objects.
    fc.constantFrom(
      ...[
        fill.UID,
        fill.OWN,
        snapshots.SNAPSHOT_UID,
        snapshots.CONTENT_UID,
        snapshots.CLAIM_UID,
        backups.UID,
      ],
      ...[
        'data',
        'apps',
        'prod',
        'default',
        'n1',
        'n2',
        'Bound',
        'Lost',
        'Succeeded',
        'Failed',
        '',
      ],
      ...[
        snapshots.HANDLE_TEXT,
        'file:n1:/etc/snapshots/passwd',
        'lvm:n1:vg0/root',
        'volume.stowage.dev',
      ],
    ),
    fc.constant(undefined),
  ),
);
/** Mostly empty: one odd field has the most effect where the rest is valid. */
const changes = fc.oneof(
  { weight: 3, arbitrary: fc.constant([]) },
  { weight: 2, arbitrary: fc.array(change, { maxLength: 4 }) },
);
/** Metadata to add; the server accepts any. */
const more = fc.oneof(
  { weight: 3, arbitrary: fc.constant({}) },
  {
    weight: 2,
    arbitrary: fc.record(
      {
        annotations: fc.dictionary(
          fc.oneof(
            word,
            fc.constantFrom(
              ...['stowage.dev/snapshot-job', 'stowage.dev/populates', 'stowage.dev/populated-by'],
              ...[
                'stowage.dev/populate-attempts',
                'volume.kubernetes.io/selected-node',
                'stowage.dev/paused',
              ],
            ),
          ),
          text,
          { maxKeys: 3 },
        ),
        labels: fc.dictionary(fc.oneof(word, fc.constant('stowage.dev/snapshot-attempt')), word, {
          maxKeys: 2,
        }),
        finalizers: fc.array(
          fc.oneof(
            word,
            fc.constantFrom(
              snapshots.BOUND,
              snapshots.AS_SOURCE,
              snapshots.OF_CONTENT,
              fill.FINALIZER,
            ),
          ),
          { maxLength: 3 },
        ),
        deletionTimestamp: fc.oneof(fc.constant(DELETED), word),
      },
      { requiredKeys: [] },
    ),
  },
);
const given = fc.record({ changes, more, isThere: fc.boolean() });
type Given = typeof given extends fc.Arbitrary<infer T> ? T : never;

/** Fields that the server requires. Any other field that is removed is optional. */
const KEPT = new Set([
  'apiVersion',
  'kind',
  'metadata',
  'spec',
  'source',
  'to',
  'volumeSnapshotRef',
]);

/** Returns a copy of an object with some of its strings and numbers changed or removed. */
function as<T extends { metadata: object }>(object: T, { changes: all, more: added }: Given): T {
  const copy = structuredClone(object);
  const { finalizers = [], ...rest } = added as { finalizers?: string[] };
  const has = (copy.metadata as { finalizers?: string[] }).finalizers ?? [];
  Object.assign(copy.metadata, rest, { finalizers: [...has, ...finalizers] });
  const places: [holder: Record<string, unknown>, key: string][] = [];
  const walk = (holder: Record<string, unknown>): void => {
    for (const [key, value] of Object.entries(holder)) {
      if (value !== null && typeof value === 'object') walk(value as Record<string, unknown>);
      else if (!KEPT.has(key) && !(holder === copy.metadata && key === 'uid'))
        places.push([holder, key]);
    }
  };
  walk(copy as Record<string, unknown>);
  for (const [at, to] of all) {
    const [holder, key] = places[at % places.length] as (typeof places)[number];
    if (to === undefined && !Array.isArray(holder) && !['name', 'namespace'].includes(key))
      delete holder[key];
    else if (typeof to === typeof holder[key]) holder[key] = to;
  }
  return copy;
}
const maybe = <T extends { metadata: object }>(object: T, by: Given): T | undefined =>
  by.isThere ? as(object, by) : undefined;

/** Fails the run if a decision violates an invariant. */
function must(holds: boolean, decided: unknown): void {
  if (!holds) throw new Error(`decided: ${JSON.stringify(decided)}`);
}

const isSound = (text: string): boolean => !('problem' in parseHandle(text));

const message = text.map((each) => each.slice(0, 500));

const outcome = fc.oneof(
  fc.constant(undefined),
  fc.record({
    is: fc.constant('whole' as const),
    sizeBytes: fc.maxSafeNat(),
    takenAt: fc.maxSafeInteger(),
  }),
  fc.constantFrom({ is: 'absent' as const }, { is: 'running' as const }),
  fc.record({
    is: fc.constantFrom('refused' as const, 'failed' as const, 'unknown' as const),
    message,
  }),
);
const made = fc.oneof(
  fc.constant(undefined),
  fc.record({ is: fc.constant('made' as const), bytes: fc.maxSafeNat(), sha256: word }),
  fc.constantFrom({ is: 'left' as const }, { is: 'running' as const }, { is: 'none' as const }),
  fc.record({ is: fc.constant('failed' as const), message, forGood: fc.boolean() }),
  fc.record({ is: fc.constant('unknown' as const), message }),
);

/** Targets for decisions about objects of tenants. */
export const DECISIONS: readonly Target[] = [
  {
    name: 'snapshots, contents and Backups',
    share: 0.1,
    property: () =>
      fc.asyncProperty(given, given, given, given, outcome, made, (a, b, c, d, seen, ended) =>
        tame(() => {
          const snapshot = as(snapshots.snapshot(), a);
          const noted = d.isThere
            ? { note: snapshots.note({ do: a.isThere ? 'take' : 'delete' }) }
            : {};
          const content = as(snapshots.content({ status: { readyToUse: false }, ...noted }), b);
          const { action } = decideSnapshot(
            snapshots.snapshotInput({
              snapshot,
              content: maybe(content, b),
              claim: maybe(snapshots.claim({ finalizers: [snapshots.OF_CLAIM] }), c),
              pv: maybe(snapshots.pv(), d),
              classes: [as(snapshots.snapshotClass(), d)],
            }),
            fill.NOW,
          );
          if (action?.do === 'create-content') {
            const { volumeSnapshotRef: of, source } = action.content.spec;
            const { namespace, name, uid } = snapshot.metadata;
            must(of.namespace === namespace && of.name === name && of.uid === uid, action);
            must(source.volumeHandle === 'data1', action);
          }
          const decided = decideContent(
            snapshots.contentInput({
              content,
              snapshot: maybe(snapshot, a),
              liveSnapshot: c.isThere ? undefined : { found: undefined },
              outcome: seen,
            }),
            fill.NOW,
          ).action;
          if (decided?.do === 'take') must(decided.note.handle.type === 'file', decided);
          if (decided?.do === 'delete') must(isSound(formatHandle(decided.note.handle)), decided);
          const backup = decideBackup(
            {
              backup: as(
                backups.backup(
                  d.isThere ? { status: { phase: 'Running', node: 'n1', attempt: 1 } } : {},
                ),
                c,
              ),
              snapshot: maybe(backups.snapshot(), a),
              content: maybe(backups.content(), b),
              hasSnapshots: true,
              nodeFacts: () => snapshots.node(),
              outcome: ended,
            },
            fill.NOW,
          ).action;
          if (backup?.do === 'run') must(isSound(formatHandle(backup.handle)), backup);
        }),
      ),
  },
  {
    name: 'claims that pods fill, and their pods',
    share: 0.05,
    property: () =>
      fc.asyncProperty(
        given,
        given,
        given,
        given,
        given,
        fc.constantFrom('Pending', 'Running', 'Succeeded', 'Failed', 'Unknown'),
        message,
        (a, b, c, d, e, phase, log) =>
          tame(() => {
            const pod = fill.pod(phase, {
              status: {
                message: log,
                containerStatuses: [
                  { name: 'populate', state: { terminated: { message: log, exitCode: 1 } } },
                ],
              },
            });
            const { action } = decide(
              fill.input({
                claim: maybe(fill.claim(), a),
                prime: maybe(
                  d.isThere
                    ? fill.annotated(fill.prime(), { [POPULATED_BY_ANNOTATION]: 'pod-uid' })
                    : fill.prime(),
                  b,
                ),
                pod: maybe(pod, c),
                pv: maybe(d.changes.length % 2 ? fill.pv() : fill.given(), d),
                definitions: [as(fill.definition, e)],
                source: e.isThere ? fill.found : undefined,
                podWarning: { found: undefined },
                primeWarning: { found: { message: log } },
                liveClaim: { found: undefined },
              }),
              fill.NOW,
            );
            if (action?.do === 'create-pod')
              must(action.pod.metadata.namespace === fill.OWN, action);
            if (action?.do === 'rebind') {
              must(action.pv.spec.claimRef?.uid === 'prime-uid', action);
            }
            if (action?.do === 'create-prime') {
              const { namespace, name } = action.prime.metadata;
              must(namespace === fill.OWN && name === primeNameOf(fill.UID), action);
            }
          }),
      ),
  },
  {
    name: 'records of what is attached',
    share: 0.05,
    property: () =>
      fc.asyncProperty(
        fc.oneof(text, fc.json(), fc.constant('["n1","n2"]')),
        fc.oneof(
          anything,
          fc.array(fc.record({ node: fc.oneof(word, fc.constant('n1')), since: anything })),
        ),
        (annotation, attachments) =>
          tame(() => {
            const entries = attachmentsFromAnnotation(annotation, attachments as never, fill.NOW);
            const record = recordOf(entries);
            must(
              record.every((name) => /^[a-z0-9.-]{1,253}$/.test(name)),
              record,
            );
            const written = recordToWrite(annotation, entries) ?? annotation;
            must(
              recordOf(attachmentsFromAnnotation(written, undefined, fill.NOW)).join() ===
                record.join(),
              record,
            );
          }),
      ),
  },
];
