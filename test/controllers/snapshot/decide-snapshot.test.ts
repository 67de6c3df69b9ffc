import { describe, expect, test } from '@jest/globals';
import { type ReasonCode, reason, reasonAnnotations } from '../../../src/api/reasons.ts';
import { decideSnapshot } from '../../../src/controllers/snapshot/decide-snapshot.ts';
import type { SnapshotInput } from '../../../src/controllers/snapshot/types.ts';
import { LINK } from '../../support/link-words.ts';
import {
  AS_SOURCE,
  BOUND,
  CONTENT,
  claim,
  content,
  DELETED,
  HANDLE_TEXT,
  OF_CLAIM,
  OF_CONTENT,
  pv,
  restore,
  SNAPSHOT_UID,
  snapshot,
  snapshotClass,
  snapshotInput,
  volume,
} from '../../support/snapshot-objects.ts';
import { NOW } from '../../support/volume-input.ts';

const decide = (fields: Partial<SnapshotInput> = {}) => decideSnapshot(snapshotInput(fields), NOW);
const at = new Date(NOW).toISOString();
const FAILED = { step: 'copy', exit: 1, output: '/data/x: no room' };

/** Returns the action that sets this status and emits this event. */
const said = (reason: string, message: string, code: ReasonCode) => ({
  action: {
    do: 'set-status',
    fields: { readyToUse: false, error: { message, time: at } },
    event: { type: 'Warning', reason, message, detail: expect.objectContaining({ code }) },
  },
});
const cannotCreate = (why: string, code: ReasonCode) =>
  said(
    'SnapshotContentCreationFailed',
    `Failed to create snapshot content with error ${why}`,
    code,
  );

const MADE = {
  apiVersion: 'snapshot.storage.k8s.io/v1',
  kind: 'VolumeSnapshotContent',
  metadata: { name: CONTENT, finalizers: [OF_CONTENT] },
  spec: {
    volumeSnapshotRef: {
      apiVersion: 'snapshot.storage.k8s.io/v1',
      kind: 'VolumeSnapshot',
      namespace: 'apps',
      name: 'backup',
      uid: SNAPSHOT_UID,
    },
    deletionPolicy: 'Delete',
    driver: 'volume.stowage.dev',
    source: { volumeHandle: 'data1' },
    volumeSnapshotClassName: 'fast',
    sourceVolumeMode: 'Filesystem',
  },
};
const CREATES = {
  action: {
    do: 'create-content',
    content: MADE,
    event: {
      type: 'Normal',
      reason: 'CreatingSnapshot',
      message: 'Waiting for a snapshot apps/backup to be created by Stowage',
      detail: reason('SnapshotBegun', { snapshot: 'apps/backup' }),
    },
  },
};
const ready = {
  snapshotHandle: HANDLE_TEXT,
  creationTime: 1767323045e9,
  restoreSize: 2 ** 30,
  readyToUse: true,
};
const shown = {
  boundVolumeSnapshotContentName: CONTENT,
  readyToUse: true,
  creationTime: '2026-01-02T03:04:05Z',
  restoreSize: '1Gi',
};
const theirs = snapshotClass('theirs', { driver: 'other.csi', isDefault: true });
const others = volume({ uid: 'another' });

describe('a snapshot of a claim', () => {
  test.each<[string, Partial<SnapshotInput>, object]>([
    [
      'is protected first',
      { snapshot: snapshot({ metadata: { finalizers: ['x'] } }) },
      { action: { do: 'add-finalizer', finalizer: BOUND } },
    ],
    [
      'has its claim protected next',
      { claim: claim() },
      { action: { do: 'protect-claim', claim: claim() } },
    ],
    ['then gets its content', {}, CREATES],
    [
      'of a PersistentVolume whose owner was taken off is found by its device',
      {
        pv: {
          ...pv(),
          metadata: { name: 'data1' },
          spec: { ...pv().spec, local: { path: LINK } },
        },
        volume: { ...volume(), status: { devicePath: LINK } },
      },
      CREATES,
    ],
    [
      'waits for the claim',
      { claim: undefined, pv: undefined, volume: undefined },
      cannotCreate('claim data not found', 'SnapshotClaimMissing'),
    ],
    [
      'is not taken of a claim that goes',
      { claim: claim({ deletionTimestamp: DELETED }) },
      cannotCreate('claim data is being deleted', 'SnapshotClaimBeingDeleted'),
    ],
    [
      'waits for a claim that is not bound',
      { claim: claim({}, { volumeName: '' }), pv: undefined },
      cannotCreate('claim data is not bound to a PersistentVolume yet', 'SnapshotClaimUnbound'),
    ],
    [
      'waits for the PersistentVolume',
      { pv: undefined, volume: undefined },
      cannotCreate(
        'PersistentVolume data1 of claim data not found',
        'SnapshotPersistentVolumeMissing',
      ),
    ],
    [
      'is not taken of what an earlier claim of the name had',
      { pv: pv('earlier') },
      cannotCreate(
        'PersistentVolume data1 is not bound to claim data',
        'SnapshotPersistentVolumeOfAnother',
      ),
    ],
    [
      'of a claim of others with a class of ours',
      { volume: others },
      cannotCreate(
        'PersistentVolume data1 of claim data is not managed by Stowage',
        'SnapshotVolumeForeign',
      ),
    ],
    [
      'of a claim of others without a class is left alone',
      { volume: others, snapshot: snapshot({ className: null }) },
      {},
    ],
    [
      'of a claim of others with their class is left alone',
      { volume: others, snapshot: snapshot({ className: 'theirs' }), classes: [theirs] },
      {},
    ],
    [
      'waits for its class',
      { classes: [] },
      cannotCreate('VolumeSnapshotClass "fast" not found', 'SnapshotClassNotFound'),
    ],
    [
      'with a class of another driver',
      { snapshot: snapshot({ className: 'theirs' }), classes: [theirs] },
      cannotCreate(
        'VolumeSnapshotClass theirs has driver other.csi, and the volume has driver volume.stowage.dev',
        'SnapshotClassForeign',
      ),
    ],
    [
      'with a wrong parameter',
      { classes: [snapshotClass('fast', { parameters: { frozenCopySeconds: '0' } })] },
      cannotCreate(
        'VolumeSnapshotClass fast: frozenCopySeconds is "0", but must be an integer from 1 to 3600',
        'SnapshotClassFreezeInvalid',
      ),
    ],
    [
      'is given the default class of ours',
      {
        snapshot: snapshot({ className: null }),
        classes: [theirs, snapshotClass('fast', { isDefault: true }), snapshotClass('slow')],
      },
      { action: { do: 'set-class', name: 'fast' } },
    ],
    [
      'without a class and a default one',
      { snapshot: snapshot({ className: null }), classes: [theirs, snapshotClass()] },
      said(
        'SetDefaultSnapshotClassFailed',
        'Failed to set default snapshot class with error cannot find default snapshot class: no class of driver volume.stowage.dev has annotation snapshot.storage.kubernetes.io/is-default-class: "true"',
        'DefaultSnapshotClassMissing',
      ),
    ],
    [
      'with several default classes',
      {
        snapshot: snapshot({ className: null }),
        classes: [snapshotClass('b', { isDefault: true }), snapshotClass('a', { isDefault: true })],
      },
      said(
        'SetDefaultSnapshotClassFailed',
        'Failed to set default snapshot class with error 2 default snapshot classes were found: a, b',
        'DefaultSnapshotClassAmbiguous',
      ),
    ],
    [
      'that was bound is not taken anew',
      { snapshot: snapshot({ status: shown }) },
      said(
        'SnapshotContentMissing',
        `VolumeSnapshotContent ${CONTENT} is missing`,
        'ContentMissing',
      ),
    ],
    [
      'shows what its content says',
      { content: content({ status: ready }) },
      {
        action: {
          do: 'set-status',
          fields: shown,
          event: {
            type: 'Normal',
            reason: 'SnapshotReady',
            message: 'Snapshot apps/backup is ready to use.',
            detail: reason('SnapshotReady', { snapshot: 'apps/backup' }),
          },
        },
      },
    ],
    [
      'is bound before it is ready',
      { content: content() },
      {
        action: {
          do: 'set-status',
          fields: { boundVolumeSnapshotContentName: CONTENT, readyToUse: false },
        },
      },
    ],
    [
      'rests when it shows all',
      { content: content({ status: ready }), snapshot: snapshot({ status: shown }) },
      {},
    ],
    [
      'tells once what went wrong with its content',
      {
        content: content({
          status: { error: { message: '/data/x: no room', time: 't' } },
          metadata: {
            annotations: {
              ...reasonAnnotations(reason('StepFailed', FAILED)),
              'stowage.dev/error-time': 't',
            },
          },
        }),
        snapshot: snapshot({
          status: { boundVolumeSnapshotContentName: CONTENT, readyToUse: false },
        }),
      },
      {
        action: {
          do: 'set-status',
          fields: { error: { message: '…: no room', time: 't' } },
          event: {
            ...{ type: 'Warning', reason: 'SnapshotCreationFailed', message: '…: no room' },
            detail: reason('StepFailed', { ...FAILED, output: '…: no room' }),
          },
        },
      },
    ],
    [
      'says no more what went wrong before',
      {
        content: content({ status: ready }),
        snapshot: snapshot({ status: { ...shown, error: { message: 'no room' } } }),
      },
      { action: { do: 'set-status', fields: { error: null } } },
    ],
    [
      'whose content is of an earlier snapshot of the name',
      {
        content: content({
          spec: { volumeSnapshotRef: { namespace: 'apps', name: 'backup', uid: 'earlier' } },
        }),
      },
      said(
        'SnapshotContentMisbound',
        `VolumeSnapshotContent ${CONTENT} is bound to a different snapshot`,
        'ContentMisbound',
      ),
    ],
    [
      'whose content was made by hand',
      { content: content({ spec: { source: { snapshotHandle: HANDLE_TEXT } } }) },
      said(
        'SnapshotContentMismatch',
        'VolumeSnapshotContent is pre-provisioned while expecting a dynamically provisioned one',
        'ContentPreProvisioned',
      ),
    ],
    [
      'whose content is of another driver is left alone',
      { content: content({ spec: { driver: 'other.csi' } }) },
      {},
    ],
    [
      'that names a content too',
      {
        snapshot: snapshot({
          source: { persistentVolumeClaimName: 'a', volumeSnapshotContentName: 'b' },
        }),
      },
      said(
        'SnapshotValidationError',
        'Exactly one of PersistentVolumeClaimName and VolumeSnapshotContentName should be specified',
        'SnapshotSourceAmbiguous',
      ),
    ],
  ])('%s', (_, fields, expected) => {
    expect(decide(fields)).toEqual(expected);
  });

  test('reports once what it waits for', () => {
    const fields = { claim: undefined, pv: undefined, volume: undefined };
    const { action } = decide(fields);
    const status = {
      readyToUse: false,
      error: { message: (action as { event: { message: string } }).event.message },
    };
    expect(decide({ ...fields, snapshot: snapshot({ status }) })).toEqual({});
  });
});

test('a snapshot whose content is missing is not ready, even if it was before', () => {
  const message = `VolumeSnapshotContent ${CONTENT} is missing`;
  const status = { ...shown, error: { message } };
  expect(decide({ snapshot: snapshot({ status }) })).toEqual(
    said('SnapshotContentMissing', message, 'ContentMissing'),
  );
});

describe('a snapshot of a pre-provisioned content', () => {
  const source = { volumeSnapshotContentName: 'by-hand' };
  const asks = snapshot({ source, className: null });
  const byHand = (uid?: string, more = {}) =>
    content({
      metadata: { name: 'by-hand' },
      spec: {
        source: { snapshotHandle: HANDLE_TEXT },
        volumeSnapshotRef: { namespace: 'apps', name: 'backup', ...(uid !== undefined && { uid }) },
        ...more,
      },
      status: ready,
    });
  const shows = { ...shown, boundVolumeSnapshotContentName: 'by-hand' };
  const misbound = said(
    'SnapshotContentMisbound',
    'VolumeSnapshotContent by-hand is bound to a different snapshot',
    'ContentMisbound',
  );

  test.each<[string, Partial<SnapshotInput>, object]>([
    [
      'waits for it',
      {},
      said('SnapshotContentMissing', 'VolumeSnapshotContent by-hand is missing', 'ContentMissing'),
    ],
    [
      'is protected first',
      { content: byHand(), snapshot: snapshot({ source, metadata: { finalizers: [] } }) },
      { action: { do: 'add-finalizer', finalizer: BOUND } },
    ],
    [
      'fills in its UID',
      { content: byHand() },
      { action: { do: 'bind-content', content: byHand() } },
    ],
    [
      'fills in its UID where it is empty',
      { content: byHand('') },
      { action: { do: 'bind-content', content: byHand('') } },
    ],
    [
      'shows what it says',
      { content: byHand(SNAPSHOT_UID) },
      {
        action: {
          do: 'set-status',
          fields: shows,
          event: {
            type: 'Normal',
            reason: 'SnapshotReady',
            message: 'Snapshot apps/backup is ready to use.',
            detail: reason('SnapshotReady', { snapshot: 'apps/backup' }),
          },
        },
      },
    ],
    ['that is of another UID', { content: byHand('earlier') }, misbound],
    [
      'that is of another namespace',
      { content: byHand('', { volumeSnapshotRef: { namespace: 'other', name: 'backup' } }) },
      misbound,
    ],
    [
      'that is of another name',
      { content: byHand('', { volumeSnapshotRef: { namespace: 'apps', name: 'other' } }) },
      misbound,
    ],
    [
      'that was made for a claim',
      { content: byHand('', { source: { volumeHandle: 'data1' } }) },
      said(
        'SnapshotContentMismatch',
        'VolumeSnapshotContent is dynamically provisioned while expecting a pre-provisioned one',
        'ContentDynamic',
      ),
    ],
    [
      'that is of another driver is left alone',
      { content: byHand('', { driver: 'other.csi' }) },
      {},
    ],
  ])('%s', (_, fields, expected) => {
    expect(decide({ snapshot: asks, ...fields })).toEqual(expected);
  });
});

describe('beside the standard snapshot-controller', () => {
  const beside = { mode: 'external' } as const;
  const { event: _, ...creates } = CREATES.action;
  test.each<[string, Partial<SnapshotInput>, object]>([
    [
      'the content of a claim of ours is made, and nothing else written',
      { claim: claim(), snapshot: snapshot({ metadata: { finalizers: [AS_SOURCE] } }) },
      { action: creates },
    ],
    [
      'not before it keeps the snapshot, which would be gone without its content else',
      { claim: claim(), snapshot: snapshot({ metadata: { finalizers: ['of.others/x'] } }) },
      {},
    ],
    [
      'the default class is written: it finds none for a volume that is not of CSI',
      {
        snapshot: snapshot({ className: null }),
        classes: [snapshotClass('fast', { isDefault: true })],
      },
      { action: { do: 'set-class', name: 'fast' } },
    ],
    [
      'a content that is there already is bound once its class is written',
      { snapshot: snapshot({ className: null }), content: content(), claim: undefined },
      { action: { do: 'set-class', name: 'fast' } },
    ],
    [
      'the class of a content of others is not',
      { snapshot: snapshot({ className: null }), content: content({ spec: { driver: 'other' } }) },
      {},
    ],
    ['a claim of others is left to it', { volume: others }, {}],
    [
      'what waits for its claim is told by it',
      { claim: undefined, pv: undefined, volume: undefined },
      {},
    ],
    ['what waits for its class is told by it', { classes: [] }, {}],
    [
      'a wrong class makes nothing',
      { classes: [snapshotClass('fast', { parameters: { x: 'y' } })] },
      {},
    ],
    ['a content that is there is its', { content: content({ status: ready }) }, {}],
    ['what was bound gets no other content', { snapshot: snapshot({ status: shown }) }, {}],
    [
      'one that is being deleted is its',
      { snapshot: snapshot({ metadata: { deletionTimestamp: DELETED } }) },
      {},
    ],
    [
      'a content made by hand is bound by it',
      { snapshot: snapshot({ source: { volumeSnapshotContentName: 'by-hand' } }) },
      {},
    ],
  ])('%s', (__, fields, expected) => {
    expect(decide({ ...beside, ...fields })).toEqual(expected);
  });

  test('the content is also created if the claim already has the finalizer', () => {
    expect(decide({ ...beside, claim: claim({ finalizers: [OF_CLAIM] }) })).toEqual({
      action: creates,
    });
  });
});

describe('a snapshot from which a volume is being provisioned', () => {
  const ready = content({ status: { snapshotHandle: HANDLE_TEXT, readyToUse: true } });
  const shown = { boundVolumeSnapshotContentName: CONTENT, readyToUse: true };
  const held = snapshot({ metadata: { finalizers: [BOUND, AS_SOURCE] }, status: shown });
  const free = snapshot({ status: shown });
  const byHand = {
    snapshot: snapshot({ source: { volumeSnapshotContentName: CONTENT }, status: shown }),
    content: content({
      spec: { source: { snapshotHandle: HANDLE_TEXT } },
      status: { snapshotHandle: HANDLE_TEXT, readyToUse: true },
    }),
  };
  test.each<[string, Partial<SnapshotInput>, object]>([
    [
      'is held',
      { snapshot: free, restores: [restore()] },
      { action: { do: 'add-finalizer', finalizer: AS_SOURCE } },
    ],
    ['is held once', { snapshot: held, restores: [restore()] }, {}],
    [
      'is held, also when it was made by hand',
      { ...byHand, restores: [restore()] },
      { action: { do: 'add-finalizer', finalizer: AS_SOURCE } },
    ],
    [
      'is let go of once that is made, or was given up',
      { snapshot: held },
      { action: { do: 'take-off-finalizers', finalizers: [AS_SOURCE] } },
    ],
    ['is at rest then', { snapshot: free }, {}],
    [
      'is held by whoever binds it, where we do not',
      { snapshot: free, restores: [restore()], mode: 'external' },
      {},
    ],
  ])('%s', (_, fields, expected) => {
    expect(decide({ content: ready, ...fields })).toEqual(expected);
  });
});
