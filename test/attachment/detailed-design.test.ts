import { describe, expect, test } from '@jest/globals';
import { change, withoutNode } from '../../src/attachment/actual.ts';
import { managedOf } from '../../src/attachment/desired.ts';
import { conditionOf } from '../../src/attachment/handshake.ts';
import { reconcile } from '../../src/attachment/reconcile.ts';
import { attachmentsOf, entriesFromRecord, recordOf, recordToWrite } from '../../src/attachment/record.ts';
import type { Next } from '../../src/attachment/types.ts';
import { usesOf } from '../../src/attachment/uses.ts';
import {
  always,
  DEVICE_PATH,
  entry,
  lookups,
  MINUTE,
  NOW,
  notReady,
  OFF,
  onDemand,
  podObject,
  pvObject,
  shared,
  use,
  type ViewChange,
  view,
  volumeObject,
  wanted,
} from '../support/attachment-view.ts';

/** The sentences of "Detailed Design" in the specification of the attach/detach controller, in its order. */

const next = (change: ViewChange): Next => reconcile(view(change), NOW);
const begun = (change: ViewChange): string | undefined => {
  const { start } = next(change);
  return start === undefined ? undefined : `${start.kind} ${start.node}`;
};
const podsOf = (change: ViewChange, node = 'n1'): string[] =>
  next(change)
    .entries.filter((one) => one.node === node)
    .flatMap(({ pods }) => pods.map(({ uid }) => uid));

const pv = pvObject();
const inline = podObject({ volumes: [{ name: 'd', hostPath: { path: DEVICE_PATH, type: 'BlockDevice' } }] });
const mirror = {
  ...inline,
  metadata: { ...inline.metadata, annotations: { 'kubernetes.io/config.mirror': 'x' } },
};
const readers = shared({ readOnly: true });

describe('Attach/Detach Controller', () => {
  test('The controller will maintain an in-memory cache containing a list of volumes that are managed by the controller', () => {
    // Of each volume, by its UID, what is known of it on nodes.
    const entries = entriesFromRecord('["n1"]', undefined, NOW);
    expect(begun({ wanted: [wanted('n2', 'a')], entries })).toBe('look n1');
  });

  test('Each of these volumes will, in addition to the volume name, specify a list of nodes the volume is attached to', () => {
    expect(recordOf([entry('n1'), entry('n2')])).toEqual(['n1', 'n2']);
  });

  test('each of these nodes will, in addition to the node name, specify a list of pods that are scheduled to the node and referencing the volume', () => {
    const found = usesOf(podObject(), lookups());
    expect(found).toEqual([{ volume: 'u1', use: use('p1', 'n1') }]);
    const { entries } = next({ wanted: [{ node: 'n1', pods: [use('p1', 'n1')] }], entries: [entry('n1')] });
    expect(entries).toEqual([entry('n1', {}, 'p1')]);
  });

  test('This cache must be thread-safe', () => {
    // Whoever has read it goes on with what was so then.
    const read = [entry('n1')];
    const then = change(withoutNode(read, 'n1'), 'n2', { state: 'Attaching' }, NOW);
    expect([recordOf(read), recordOf(then)]).toEqual([['n1'], ['n2']]);
  });

  test('a single top level boolean used to track if state needs to be persisted or not (the value is reset every time state is persisted, and it is set anytime an attach or detach succeeds)', () => {
    // One for each volume: a boolean for all would write all.
    expect(recordToWrite('[]', [entry('n1')])).toBe('["n1"]');
    expect(recordToWrite('["n1"]', [entry('n1')])).toBeUndefined();
    expect(recordToWrite('["n1"]', [])).toBe('[]');
  });

  test('On initial startup, the controller will ... pre-populate the cache with volumes and the nodes they are attached to', () => {
    const entries = entriesFromRecord('["n1","n2"]', undefined, NOW);
    expect(recordOf(entries)).toEqual(['n1', 'n2']);
    expect(recordToWrite('["n1","n2"]', entries)).toBeUndefined();
    // It is not trusted: each is looked at before anything is done.
    expect(begun({ wanted: [wanted('n3', 'a')], entries })).toBe('look n1');
  });

  test('Fetch all pod and mirror pod objects', () => {
    expect(usesOf(mirror, lookups())).toEqual(usesOf(inline, lookups()));
    expect(usesOf(mirror, lookups())).toHaveLength(1);
  });

  test('The cached pod is not present in the list of fetched pods', () => {
    expect(podsOf({ entries: [entry('n1', {}, 'a')], lives: () => false })).toEqual([]);
  });

  test('or the node it is scheduled to is different (indicating the pod object was deleted from the API server or rescheduled)', () => {
    const change = { wanted: [wanted('n2', 'a')], entries: [entry('n1', {}, 'a')] };
    expect(podsOf(change)).toEqual([]);
    expect(begun(change)).toBe('detach n1');
  });

  test('The cached pod is present in the list of fetched pods and the PodPhase is Succeeded or Failed', () => {
    for (const phase of ['Succeeded', 'Failed']) {
      expect(usesOf(podObject({}, { phase }), lookups())).toEqual([]);
    }
  });

  test('and the VolumeStatus ... indicates the volume is safe to detach', () => {
    // A terminated pod that still has it mounted: the detach is begun, finds that, and the entry stays, also after that.
    const seen = entry('n1', { safeToDetach: false, message: '/dev/loop1 is mounted at /x' });
    const change = { entries: [seen], notBefore: { 'detach n1': NOW + 500 } };
    expect(next(change)).toMatchObject({ entries: [seen], start: undefined, again: NOW + 500 });
  });

  test('Iterate through the fetched pods, and for each pod ... check the volumes it defines or references (dereference any PersistentVolumeClaim objects to fetch associated PersistentVolume objects)', () => {
    expect(usesOf(podObject(), lookups()).map(({ volume }) => volume)).toEqual(['u1']);
    expect(usesOf(inline, lookups()).map(({ volume }) => volume)).toEqual(['u1']);
  });

  test('for each pod with a PodPhase Pending: of every phase, so that Running pods hold theirs after a restart', () => {
    expect(usesOf(podObject({}, { phase: 'Running' }), lookups())).toHaveLength(1);
  });

  test('If the volume is already tracked in memory cache, and the node the pod is scheduled to is listed in the in-memory cache for the specified volume: Add the pod to the list of pods in the in-memory cache under the node', () => {
    expect(podsOf({ wanted: [wanted('n1', 'a', 'b')], entries: [entry('n1', {}, 'a')] })).toEqual([
      'uid-a',
      'uid-b',
    ]);
    expect(begun({ wanted: [wanted('n1', 'a', 'b')], entries: [entry('n1', {}, 'a')] })).toBeUndefined();
  });

  test('Loop through all cached nodes (i.e. volume->node) and trigger detach logic for any volumes that are attached to a node (exist in-memory cache) but have no pods listed under that node', () => {
    expect(begun({ entries: [entry('n1')] })).toBe('detach n1');
    expect(begun({ entries: [entry('n1', {}, 'a')], wanted: [wanted('n1', 'a')] })).toBeUndefined();
    // Kept present by its policy.
    expect(begun({ volume: always(), wanted: [wanted('n1')], entries: [entry('n1')] })).toBeUndefined();
  });

  test('Detaches are triggered before attaches so that volumes referenced by pods that are rescheduled to a different node are detached first', () => {
    expect(begun({ wanted: [wanted('n2', 'a')], entries: [entry('n1', {}, 'a')] })).toBe('detach n1');
    expect(
      begun({ volume: readers, wanted: [wanted('n2', 'a')], entries: [entry('n1', { readOnly: true })] }),
    ).toBe('detach n1');
  });

  test('If the volume is not already in-memory cache (indicates a new volume has been discovered), then trigger attach logic to attach the volume to the node the pod is scheduled to', () => {
    expect(begun({ wanted: [wanted('n2', 'a')] })).toBe('attach n2');
  });

  test('If the volume is already tracked in memory cache, and the node the pod is scheduled to is not listed in the in-memory cache for the specified volume, trigger attach logic to attach the volume to the node the pod is scheduled to', () => {
    const change = {
      wanted: [wanted('n1', 'a'), wanted('n2', 'b')],
      entries: [entry('n1', { readOnly: true }, 'a')],
    };
    expect(begun({ ...change, volume: readers })).toBe('attach n2');
    // Unless policies forbid it.
    expect(begun(change)).toBeUndefined();
  });

  test('If the top level boolean ... is not set, skip this operation (to prevent unnecessary writes to the API server)', () => {
    expect(recordToWrite('["n1"]', [entry('n1', { safeToDetach: true }, 'a')])).toBeUndefined();
  });

  test('For each volume in the in-memory cache that is a PersistentVolume and is attached to a node (has more than one item in list of nodes), write the list of nodes to associated PersistentVolume object: from one up, and also when it becomes empty', () => {
    expect(recordToWrite(undefined, [entry('n1')])).toBe('["n1"]');
    expect(recordToWrite('["n1"]', [])).toBe('[]');
  });

  test('Reset the top level boolean in the in-memory cache to indicate that state does not need to be persisted', () => {
    // What changed while it was written is still to be written.
    expect(recordToWrite('["n1"]', [entry('n2')])).toBe('["n2"]');
    expect(recordToWrite('["n2"]', [entry('n2')])).toBeUndefined();
  });

  test('To prevent multiple attach or detach operations on the same volume, the main thread will maintain a table mapping volumes to currently active operations', () => {
    for (const kind of ['attach', 'detach', 'look'] as const) {
      const running = { kind, node: 'n3', readOnly: false };
      expect(begun({ running, wanted: [wanted('n1', 'a')] })).toBeUndefined();
      expect(begun({ running, entries: [entry('n1')] })).toBeUndefined();
    }
  });
});

describe('Attach Logic', () => {
  test('Abort if there is already a pending operation for the specified volume (main loop will retry, if needed)', () => {
    const change = { wanted: [wanted('n1', 'a')] };
    const running = { kind: 'look', node: 'n2', readOnly: false } as const;
    expect([begun({ ...change, running }), begun(change)]).toEqual([undefined, 'attach n1']);
  });

  test('Check "policies" to determine if the persistent volume can be attached to the specified node, if not, do nothing', () => {
    const { start, blocked } = next({ volume: onDemand(), wanted: [wanted('n2', 'a')] });
    expect(start).toBeUndefined();
    expect(blocked).toMatchObject([{ node: 'n2', reason: 'node-not-allowed' }]);
  });

  test('This includes logic that prevents a ReadWriteOnce persistent volume from being attached to more than one node', () => {
    for (const state of ['Attached', 'Attaching', 'Detaching', 'Uncertain'] as const) {
      const change = {
        wanted: [wanted('n1', 'a'), wanted('n2', 'b')],
        entries: [entry('n1', { state })],
        notBefore: { 'look n1': NOW + 500 },
      };
      expect(begun(change)).toBeUndefined();
      expect(next(change).blocked).toMatchObject([{ node: 'n2', reason: 'multi-attach' }]);
    }
  });

  test('For all other errors, log the error, and terminate the thread (the main controller will retry as needed)', () => {
    const failed = { wanted: [wanted('n1', 'a')], notBefore: { 'attach n1': NOW + 500 } };
    expect(next(failed)).toMatchObject({ start: undefined, again: NOW + 500 });
    expect(reconcile(view(failed), NOW + 500).start).toMatchObject({ kind: 'attach', node: 'n1' });
  });

  test('Add the node the volume was attached to, to in-memory cache (i.e. volume->node), to indicate the volume was successfully attached to the node', () => {
    const attaching = [entry('n1', { state: 'Attaching' })];
    const attached = change(attaching, 'n1', { state: 'Attached', safeToMount: true }, NOW);
    expect(attached).toEqual([entry('n1', { since: NOW })]);
    expect(begun({ wanted: [wanted('n1', 'a')], entries: attached })).toBeUndefined();
  });

  test('Set the top level boolean in the in-memory cache to indicate that state does need to be persisted: attached', () => {
    expect(recordToWrite('[]', change([], 'n1', { state: 'Attached' }, NOW))).toBe('["n1"]');
  });

  test('Make a call to the API server to update the VolumeStatus object ... to indicate that it is now safeToMount', () => {
    const attached = entry('n1', {}, 'a');
    expect(attachmentsOf([attached])).toMatchObject([{ node: 'n1', safeToMount: true, pods: ['app/a'] }]);
    expect(conditionOf([{ volume: 'v1', entry: attached }], undefined, NOW)?.status).toBe('True');
  });
});

describe('Detach Logic', () => {
  test('Abort if there is already a pending operation for the specified volume (main loop will retry, if needed)', () => {
    const change = { entries: [entry('n1')] };
    const running = { kind: 'look', node: 'n2', readOnly: false } as const;
    expect([begun({ ...change, running }), begun(change)]).toEqual([undefined, 'detach n1']);
  });

  test('For all other errors, log the error, and terminate the thread (the main controller will retry as needed)', () => {
    const failed = { entries: [entry('n1')], notBefore: { 'detach n1': NOW + 500 } };
    expect(next(failed)).toMatchObject({ start: undefined, again: NOW + 500 });
    expect(reconcile(view(failed), NOW + 500).start).toMatchObject({ kind: 'detach', node: 'n1' });
  });

  test('Remove the node that the specified volume was detached from, from the list of attached nodes under the volume in-memory cache, to indicate the volume was successfully detached from the node', () => {
    const left = withoutNode([entry('n1'), entry('n2')], 'n1');
    expect(recordOf(left)).toEqual(['n2']);
    expect(begun({ wanted: [wanted('n3', 'a')], entries: withoutNode([entry('n1')], 'n1') })).toBe(
      'attach n3',
    );
  });

  test('Set the top level boolean in the in-memory cache to indicate that state does need to be persisted: detached', () => {
    expect(recordToWrite('["n1"]', withoutNode([entry('n1')], 'n1'))).toBe('[]');
  });

  test('Acquire operation lock for volume, at the end: a slip, for it is released, and the next operation begins', () => {
    const change = { wanted: [wanted('n2', 'a')] };
    const running = { kind: 'detach', node: 'n1', readOnly: false } as const;
    expect(begun({ ...change, entries: [entry('n1', { state: 'Detaching' })], running })).toBeUndefined();
    expect(begun(change)).toBe('attach n2');
  });
});

describe('Rationale for Storing State', () => {
  test('if it terminates unexpectedly, it should continue operating where it left off when restarted', () => {
    const entries = entriesFromRecord('["n1"]', undefined, NOW);
    expect(begun({ entries, unseen: ['n1', 'n2', 'n3'] })).toBe('look n1');
    // Found to be so: a pod that was deleted meanwhile is no reason to keep it.
    const seen = change(entries, 'n1', { state: 'Attached', safeToMount: true }, NOW);
    expect(begun({ entries: seen })).toBe('detach n1');
  });

  test('the controller could, optionally, periodically poll ... to find out exactly which volumes are attached to which nodes and update its cached state accordingly', () => {
    const change = { wanted: [wanted('n1', 'a')], entries: [entry('n1', {}, 'a')] };
    expect(begun({ ...change, unseen: ['n1'] })).toBe('look n1');
    expect(begun({ ...change, unseen: ['n2'] })).toBe('look n2');
    expect(begun(change)).toBeUndefined();
  });

  test('If a PersistentVolume object is deleted by the user before it is detached, the controller will still behave normally', () => {
    const withoutPv = managedOf(volumeObject({ attachPolicy: 'OnDemand' }), {
      maxWaitForUnmountMs: 0,
      storageClass: undefined,
    });
    const entries = [entry('n1', {}, 'a')];
    // Its pod is there, though nothing leads from it to the volume any more; then it is gone.
    expect(begun({ volume: withoutPv, entries, lives: () => true })).toBeUndefined();
    expect(begun({ volume: withoutPv, entries, lives: () => false })).toBe('detach n1');
    expect(begun({ volume: undefined, entries, lives: () => false })).toBe('detach n1');
  });
});

describe('Pod Defined Volume Objects and Static Pods', () => {
  test('Controller handles "persistent volume" objects by parsing PersistentVolume API objects from the API server, and persists state in the PersistentVolume API object', () => {
    expect(recordToWrite(undefined, [entry('n1')])).toBe('["n1"]');
    expect(usesOf(podObject(), lookups({ pvs: [pv] }))).toHaveLength(1);
  });

  test('Controller handles "pod defined volumes" by parsing pod objects from the API server, and stores state only in local controller memory', () => {
    expect(usesOf(inline, lookups({ pvs: [], claims: [] }))).toHaveLength(1);
  });

  test('Controller handles "static pods" by parsing mirror pod objects from the API server, and stores state only in local controller memory', () => {
    expect(usesOf(mirror, lookups({ pvs: [], claims: [] }))).toEqual([
      { volume: 'u1', use: use('p1', 'n1') },
    ]);
  });
});

describe('Safe Mount/Unmount', () => {
  test('The controller should wait for a volume to be safely unmounted before it tries to detach it', () => {
    const deleting = { deletionTimestamp: '2026-03-01T11:59:00Z' };
    const running = [{ name: 'c', state: { running: {} } }];
    const uses = usesOf(podObject({}, { containerStatuses: running }, deleting), lookups());
    expect(
      begun({ wanted: [{ node: 'n1', pods: uses.map((one) => one.use) }], entries: [entry('n1')] }),
    ).toBe(undefined);
  });

  test('if the kubelet is unavailable, act unilaterally to detach the disk anyway (so that no disks are left attached if kubelet becomes inaccessible)', () => {
    const volume = onDemand();
    const away = { n1: notReady(NOW - 6 * MINUTE) };
    expect(next({ volume, entries: [entry('n1')], nodes: away })).toMatchObject({
      entries: [],
      forced: [{ node: 'n1', reason: 'timeout' }],
    });
    // Where the node may still write to what others would, somebody must say that it is off.
    expect(next({ entries: [entry('n1')], nodes: away }).forced).toEqual([]);
    expect(next({ entries: [entry('n1', {}, 'a')], nodes: { n1: OFF } })).toMatchObject({
      entries: [],
      forced: [{ node: 'n1', reason: 'out-of-service' }],
    });
  });

  test('the kubelet should wait for the attach/detach controller to indicate that a volume is attached before the kubelet attempts to mount it', () => {
    for (const state of ['Attaching', 'Detaching', 'Uncertain'] as const) {
      const one = entry('n1', { state });
      expect(attachmentsOf([one])).toMatchObject([{ safeToMount: false }]);
      expect(conditionOf([{ volume: 'v1', entry: one }], undefined, NOW)?.status).toBe('False');
    }
    expect(conditionOf([{ volume: 'v1', entry: undefined }], undefined, NOW)?.status).toBe('False');
  });

  test('a safeToMount field indicating the volume is attached and ready to mount', () => {
    expect(attachmentsOf([entry('n1')])).toMatchObject([{ state: 'Attached', safeToMount: true }]);
    // Attached, and its link is missing.
    const unready = entry('n1', { safeToMount: false });
    expect(begun({ wanted: [wanted('n1', 'a')], entries: [unready] })).toBe('attach n1');
  });

  test('a safeToDetach field indicating the volume is unmounted and ready to detach', () => {
    const unused = change([entry('n1')], 'n1', { safeToDetach: true }, NOW);
    expect(attachmentsOf(unused)).toMatchObject([{ safeToDetach: true }]);
    expect(attachmentsOf(change(unused, 'n1', { state: 'Uncertain' }, NOW))).toMatchObject([
      { safeToDetach: false },
    ]);
  });
});
