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
      'is taken of a PersistentVolume without owner, found by its device',
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
      'is not taken of a claim that is being deleted',
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
      'is not taken of a volume of an earlier claim',
      { pv: pv('earlier') },
      cannotCreate(
        'PersistentVolume data1 is not bound to claim data',
        'SnapshotPersistentVolumeOfAnother',
      ),
    ],
    [
      'is refused for a foreign claim with a Stowage class',
      { volume: others },
      cannotCreate(
        'PersistentVolume data1 of claim data is not managed by Stowage',
        'SnapshotVolumeForeign',
      ),
    ],
    [
      'is ignored for a foreign claim without a class',
      { volume: others, snapshot: snapshot({ className: null }) },
      {},
    ],
    [
      'is ignored for a foreign claim with a foreign class',
      { volume: others, snapshot: snapshot({ className: 'theirs' }), classes: [theirs] },
      {},
    ],
    [
      'waits for its class',
      { classes: [] },
      cannotCreate('VolumeSnapshotClass "fast" not found', 'SnapshotClassNotFound'),
    ],
    [
      'is refused with a class of another driver',
      { snapshot: snapshot({ className: 'theirs' }), classes: [theirs] },
      cannotCreate(
        'VolumeSnapshotClass theirs has driver other.csi, and the volume has driver volume.stowage.dev',
        'SnapshotClassForeign',
      ),
    ],
    [
      'is refused with an invalid class parameter',
      { classes: [snapshotClass('fast', { parameters: { frozenCopySeconds: '0' } })] },
      cannotCreate(
        'VolumeSnapshotClass fast: frozenCopySeconds is "0", but must be an integer from 1 to 3600',
        'SnapshotClassFreezeInvalid',
      ),
    ],
    [
      'gets the default class of Stowage',
      {
        snapshot: snapshot({ className: null }),
        classes: [theirs, snapshotClass('fast', { isDefault: true }), snapshotClass('slow')],
      },
      { action: { do: 'set-class', name: 'fast' } },
    ],
    [
      'fails without a class and a default class',
      { snapshot: snapshot({ className: null }), classes: [theirs, snapshotClass()] },
      said(
        'SetDefaultSnapshotClassFailed',
        'Failed to set default snapshot class with error cannot find default snapshot class: no class of driver volume.stowage.dev has annotation snapshot.storage.kubernetes.io/is-default-class: "true"',
        'DefaultSnapshotClassMissing',
      ),
    ],
    [
      'fails with several default classes',
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
      'is not taken again once it was bound',
      { snapshot: snapshot({ status: shown }) },
      said(
        'SnapshotContentMissing',
        `VolumeSnapshotContent ${CONTENT} is missing`,
        'ContentMissing',
      ),
    ],
    [
      'shows the status of its content',
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
      'rests when its status is complete',
      { content: content({ status: ready }), snapshot: snapshot({ status: shown }) },
      {},
    ],
    [
      'reports the error of its content once',
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
      'clears an error that is over',
      {
        content: content({ status: ready }),
        snapshot: snapshot({ status: { ...shown, error: { message: 'no room' } } }),
      },
      { action: { do: 'set-status', fields: { error: null } } },
    ],
    [
      'is refused if its content is bound to an earlier snapshot',
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
      'is refused if its content is pre-provisioned',
      { content: content({ spec: { source: { snapshotHandle: HANDLE_TEXT } } }) },
      said(
        'SnapshotContentMismatch',
        'VolumeSnapshotContent is pre-provisioned while expecting a dynamically provisioned one',
        'ContentPreProvisioned',
      ),
    ],
    [
      'is ignored if its content has another driver',
      { content: content({ spec: { driver: 'other.csi' } }) },
      {},
    ],
    [
      'is refused if it also names a content',
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
      'waits for the content',
      {},
      said('SnapshotContentMissing', 'VolumeSnapshotContent by-hand is missing', 'ContentMissing'),
    ],
    [
      'is protected first',
      { content: byHand(), snapshot: snapshot({ source, metadata: { finalizers: [] } }) },
      { action: { do: 'add-finalizer', finalizer: BOUND } },
    ],
    [
      'writes its UID into the content',
      { content: byHand() },
      { action: { do: 'bind-content', content: byHand() } },
    ],
    [
      'writes its UID into a content with an empty UID',
      { content: byHand('') },
      { action: { do: 'bind-content', content: byHand('') } },
    ],
    [
      'shows the status of the content',
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
    ['is refused for a content with another UID', { content: byHand('earlier') }, misbound],
    [
      'is refused for a content with another namespace',
      { content: byHand('', { volumeSnapshotRef: { namespace: 'other', name: 'backup' } }) },
      misbound,
    ],
    [
      'is refused for a content with another name',
      { content: byHand('', { volumeSnapshotRef: { namespace: 'apps', name: 'other' } }) },
      misbound,
    ],
    [
      'is refused for a content provisioned for a claim',
      { content: byHand('', { source: { volumeHandle: 'data1' } }) },
      said(
        'SnapshotContentMismatch',
        'VolumeSnapshotContent is dynamically provisioned while expecting a pre-provisioned one',
        'ContentDynamic',
      ),
    ],
    [
      'is ignored for a content of another driver',
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
      'the content of a Stowage claim is created, and nothing else written',
      { claim: claim(), snapshot: snapshot({ metadata: { finalizers: [AS_SOURCE] } }) },
      { action: creates },
    ],
    [
      'no content is created before the controller protects the snapshot',
      { claim: claim(), snapshot: snapshot({ metadata: { finalizers: ['of.others/x'] } }) },
      {},
    ],
    [
      'the default class is set, as the controller finds none without CSI',
      {
        snapshot: snapshot({ className: null }),
        classes: [snapshotClass('fast', { isDefault: true })],
      },
      { action: { do: 'set-class', name: 'fast' } },
    ],
    [
      'the default class is set for an existing content',
      { snapshot: snapshot({ className: null }), content: content(), claim: undefined },
      { action: { do: 'set-class', name: 'fast' } },
    ],
    [
      'no class is set for a content of another driver',
      { snapshot: snapshot({ className: null }), content: content({ spec: { driver: 'other' } }) },
      {},
    ],
    ['a foreign claim is ignored', { volume: others }, {}],
    [
      'a missing claim is left to the controller',
      { claim: undefined, pv: undefined, volume: undefined },
      {},
    ],
    ['a missing class is left to the controller', { classes: [] }, {}],
    [
      'an invalid class creates nothing',
      { classes: [snapshotClass('fast', { parameters: { x: 'y' } })] },
      {},
    ],
    ['an existing content is left to the controller', { content: content({ status: ready }) }, {}],
    ['a bound snapshot gets no other content', { snapshot: snapshot({ status: shown }) }, {}],
    [
      'a deleted snapshot is left to the controller',
      { snapshot: snapshot({ metadata: { deletionTimestamp: DELETED } }) },
      {},
    ],
    [
      'a pre-provisioned content is left to the controller',
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
      'gets the source finalizer',
      { snapshot: free, restores: [restore()] },
      { action: { do: 'add-finalizer', finalizer: AS_SOURCE } },
    ],
    ['gets the source finalizer once', { snapshot: held, restores: [restore()] }, {}],
    [
      'gets the source finalizer if it is pre-provisioned',
      { ...byHand, restores: [restore()] },
      { action: { do: 'add-finalizer', finalizer: AS_SOURCE } },
    ],
    [
      'loses the source finalizer afterwards',
      { snapshot: held },
      { action: { do: 'take-off-finalizers', finalizers: [AS_SOURCE] } },
    ],
    ['rests afterwards', { snapshot: free }, {}],
    [
      'is left to the standard controller in mode external',
      { snapshot: free, restores: [restore()], mode: 'external' },
      {},
    ],
  ])('%s', (_, fields, expected) => {
    expect(decide({ content: ready, ...fields })).toEqual(expected);
  });
});
