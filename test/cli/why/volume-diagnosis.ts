import { expect, test } from '@jest/globals';
import type {
  PersistentVolume,
  PersistentVolumeClaim,
  StorageClass,
} from '../../../src/api/core.ts';
import type { ObjectMeta } from '../../../src/api/meta.ts';
import { PROTECTION_FINALIZER, READY_REASON } from '../../../src/api/names.ts';
import type { Explanation } from '../../../src/api/reasons.ts';
import type {
  Attachment,
  Condition,
  Volume,
  VolumeSpec,
  VolumeStatus,
} from '../../../src/api/volume.ts';
import { diagnose } from '../../../src/cli/why/diagnose.ts';
import type { Blocker, Diagnosis, VolumeFacts } from '../../../src/cli/why/types.ts';
import { ago, NOW, nodeNamed } from '../../support/cluster-objects.ts';
import { expectByCodes } from '../../support/scramble.ts';
import { classNamed, pvOf, volumeNamed } from '../../support/volumes.ts';

/**
 * Builders of the facts that `why volume` reads, and the rows of its tables. Conditions are 300 s
 * old by default.
 */

export const ABSENT = { absent: true } as const;
export const forbidden = { forbidden: 'no' };
export const found = <T>(it: T) => ({ found: it });

export const ready = (
  status: Condition['status'],
  reason: string,
  why: string | Explanation = '',
  transition = 300,
  update = transition,
): VolumeStatus => ({
  conditions: [
    {
      ...{ type: 'Ready', status, reason },
      ...(typeof why === 'string' ? { message: why } : (why as Condition)),
      ...{ lastTransitionTime: ago(transition), lastUpdateTime: ago(update) },
    },
  ],
});

export function volume(
  status?: VolumeStatus,
  { metadata, spec }: { metadata?: Partial<ObjectMeta>; spec?: Partial<VolumeSpec> } = {},
): Volume {
  const base = volumeNamed('data1', status);
  return {
    ...base,
    metadata: { ...base.metadata, generation: 1, finalizers: [PROTECTION_FINALIZER], ...metadata },
    spec: { ...base.spec, ...spec },
  };
}

export const deleted = (status?: VolumeStatus, finalizers = [PROTECTION_FINALIZER]) =>
  volume(status, { metadata: { deletionTimestamp: ago(600), finalizers } });
export const terminating = (why: string | Explanation, job?: string) =>
  deleted({
    phase: 'Terminating',
    ...(job && { job }),
    ...ready('Unknown', 'Terminating', why),
  });
export const failedBy = (reason: string, why: string | Explanation, spec?: Partial<VolumeSpec>) =>
  volume({ phase: 'Failed', ...ready('False', reason, why) }, { ...(spec && { spec }) });
/** Returns a Volume with a job that provisions it. `update`: time in s since its last progress. */
export const preparing = (why: string | Explanation, attempt = 1, update = 1) =>
  volume({
    ...{ phase: 'Pending', job: `PrepareVolume/${attempt}`, attempt },
    ...ready('Unknown', 'Pending', why, 300, update),
  });
export const attachedAs = (...attachments: Attachment[]) =>
  volume({ phase: 'Available', ...ready('True', 'Available'), attachments });
export const attaching = (...attachments: Attachment[]) =>
  volume({
    phase: 'Available',
    ...ready('Unknown', 'Attaching', 'is being attached', 9),
    attachments,
  });
export const unreachable = ready(
  'Unknown',
  READY_REASON.nodeUnreachable,
  'node n1 is unreachable over ssh: timeout',
);
export const available = volume({ phase: 'Available', ...ready('True', 'Available') });
export const away = volume({ phase: 'Available', ...unreachable });

export const localClass = (parameters?: Record<string, string>): StorageClass =>
  classNamed('fast', { ...(parameters && { parameters }) });
export const claim = (metadata: Partial<ObjectMeta> = {}): PersistentVolumeClaim => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'data-0', namespace: 'db', ...metadata },
  spec: {},
});
export const pv = (
  phase?: NonNullable<PersistentVolume['status']>['phase'],
  metadata: Partial<ObjectMeta> = {},
) => {
  const object = pvOf(available, phase);
  return found({
    ...object,
    metadata: { ...object.metadata, finalizers: [PROTECTION_FINALIZER], ...metadata },
  });
};
export const foreign = pv('Available', { ownerReferences: [] });
export const failedPv = found({
  ...pv('Failed').found,
  status: { phase: 'Failed' as const, message: 'no deleter' },
});
export const bound = { pv: pv('Bound') };
export const released = { pv: pv('Released') };
/** A node whose kubelet does not report. */
export const silentNode = nodeNamed('n1', {
  ...{ ready: 'Unknown', since: ago(900), message: 'Kubelet stopped posting node status.' },
});
export const noNode = { node: ABSENT };

/** Commands of printed fixes. */
export const RECREATE = [
  'kubectl get volume data1 -o yaml > volume.yaml',
  'stowage delete volume data1 --wait',
  'kubectl create -f volume.yaml',
];
export const RETRY = 'stowage retry volume data1';
export const takeOff = (object: string, value = 'example.com/backup', at = 0) =>
  `kubectl patch ${object} --type json -p '[{"op":"test","path":"/metadata/finalizers/${at}","value":"${value}"},{"op":"remove","path":"/metadata/finalizers/${at}"}]'`;

export function explain(it: Volume, world: Partial<VolumeFacts> = {}): Diagnosis {
  const facts: VolumeFacts = {
    volume: it,
    ...{ pv: ABSENT, claim: ABSENT, pods: ABSENT },
    storageClass: found(localClass()),
    node: found(nodeNamed('n1', { ready: 'True', since: ago(900) })),
    ...world,
  };
  expectByCodes((read) => diagnose(read, NOW), facts);
  return diagnose(facts, NOW);
}

interface Given {
  cause: string;
  volume: Volume;
  world: Partial<VolumeFacts>;
}

interface Expected {
  /** A part of the sentence, or a pattern. */
  holdup: string | RegExp;
  /** A part of the description of the next attempt, or its time. */
  next: string | Blocker['next'];
  since: string | undefined;
  say?: string;
  run?: string[];
}

export type Row = [Given, Expected];

/** Facts beside the Volume that differ from the defaults of `explain`. */
export const given = (cause: string, volume: Volume, world: Partial<VolumeFacts> = {}): Given => ({
  cause,
  volume,
  world,
});
/** Expects a blocker, since 300 s by default. */
export const heldUpBy = (
  holdup: Expected['holdup'],
  next: Expected['next'],
  more: Partial<Pick<Expected, 'since' | 'say' | 'run'>> = {},
): Expected => ({ holdup, next, since: ago(300), ...more });

/**
 * Declares a test for each row: the blocker of the Volume, its time, the next attempt, and the fix.
 */
export function testRows(rows: readonly Row[]): void {
  test.each(rows.map(([it, expected]) => [it.cause, it, expected] as const))(
    '%s',
    (_, it, expected) => {
      const { holdup, next, since, say, run } = expected;
      const diagnosis = explain(it.volume, it.world) as Blocker;
      expect(diagnosis).toMatchObject({
        holdup:
          typeof holdup === 'string'
            ? expect.stringContaining(holdup)
            : expect.stringMatching(holdup),
      });
      expect(diagnosis.since).toBe(since);
      expect(diagnosis.next).toEqual(
        typeof next === 'string' ? { when: expect.stringContaining(next) } : next,
      );
      if (say !== undefined) expect(diagnosis.fix?.say).toContain(say);
      if (run !== undefined) expect(diagnosis.fix?.run ?? diagnosis.fix?.daemonFlags).toEqual(run);
    },
  );
}
