import { expect } from '@jest/globals';
import type { KubeNode } from '../../src/api/core.ts';
import type { KubeObject, Resource } from '../../src/api/meta.ts';
import { OUT_OF_SERVICE_TAINT } from '../../src/api/names.ts';
import { PODS } from '../../src/api/resources.ts';
import type { Prepared, Volume } from '../../src/api/volume.ts';
import type { Outcome, Precheck } from '../../src/controllers/attachdetach/attacher-detacher.ts';
import { createNotReadyTimes } from '../../src/controllers/attachdetach/not-ready-times.ts';
import { createAttachmentReconciler } from '../../src/controllers/attachdetach/reconciler.ts';
import type {
  AttachmentOperation,
  AttachmentOperationKind,
} from '../../src/controllers/attachdetach/types.ts';
import { ApiError } from '../../src/kube/errors.ts';
import type { Informer } from '../../src/kube/informer.ts';
import type { KubeClient } from '../../src/kube/types.ts';
import { createOperations } from '../../src/workqueue/pending-operations.ts';
import { NOW, podObject, use, volumeObject } from './attachment-view.ts';
import { memoryLogger } from './logger.ts';

/**
 * Attachment reconciler of one Volume in a directory that n1 and n2 share. Tests end its
 * operations.
 */

export const ATTACHED = {
  is: 'attached',
  readOnly: false,
  safeToMount: true,
  device: 'loop1',
  message: undefined,
} as const satisfies Outcome;
export const DETACHED: Outcome = { is: 'detached' };
export const IN_USE: Outcome = { is: 'in-use', message: 'mounted' };

const NO_PODS = 'no pod may be written';

export const refusal = (code: number, reason = ''): ApiError =>
  new ApiError({ apiVersion: 'v1', kind: 'Status', status: 'Failure', reason }, code, 'PATCH');

export const node = (name: string, ready: boolean, ...taints: string[]): KubeNode =>
  ({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name },
    spec: { taints: taints.map((key) => ({ key, effect: 'NoExecute' })) },
    status: { conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
  }) as KubeNode;
export const off = (name: string): KubeNode => node(name, false, OUT_OF_SERVICE_TAINT);

/** Runs the microtasks that follow the end of an operation. */
export async function turns(count = 10): Promise<void> {
  for (let turn = 0; turn < count; turn++) await Promise.resolve();
}

/** Returns a cache that tests fill. */
function cache<T extends KubeObject>(...objects: T[]) {
  const byName = new Map(objects.map((object) => [object.metadata.name, object]));
  const handlers: ((change: { type: string; object: T }) => void)[] = [];
  const recordWrite = (object: T) => {
    byName.set(object.metadata.name, object);
    for (const handler of handlers) handler({ type: 'updated', object });
  };
  const drop = (name: string) => void byName.delete(name);
  return {
    get: (name: string) => byName.get(name),
    recordWrite,
    onChange: (handler: (typeof handlers)[number]) => void handlers.push(handler),
    drop,
  } as unknown as Informer<T> & {
    drop: typeof drop;
  };
}

interface Ran {
  operation: AttachmentOperation;
  end(outcome: Outcome): void;
  precheck: Precheck;
  tell(step: string): void;
  signal: AbortSignal;
}

export interface WorldOptions {
  /** Time of the attachment to n1 in the status of the Volume. */
  since?: string;
  /** Node of the only pod, p1; without a node there is no pod. */
  pod?: string;
}

export type ReconcilerWorld = ReturnType<typeof reconcilerWorld>;

export function reconcilerWorld({ since = '', pod }: WorldOptions = {}) {
  // Keys in the order of an API server.
  const shown = {
    device: 'loop1',
    message: 'mounted',
    node: 'n1',
    pods: [],
    safeToDetach: false,
    safeToMount: true,
    since,
    state: 'Attached' as const,
  };
  const volumes = cache(
    volumeObject(
      { attachPolicy: 'OnDemand', attachableNodes: ['n1', 'n2'] },
      { attachments: [shown] },
    ),
  );
  const nodes = cache(node('n1', true), node('n2', true));
  const writes: { attachments: { state: string; message?: string }[] }[] = [];
  const events: string[] = [];
  const forced: string[] = [];
  const woken: (number | undefined)[] = [];
  const ranBy: string[] = [];
  const refusals: Error[] = [];
  /** Limits of each kind of operation. */
  const cap = { inAll: 9, perGroup: 9 };
  let whileReading = async () => {};
  let whileWriting = async () => {};
  let last: Ran | undefined;
  let podNode = pod;
  let now = NOW;
  let lead = 0;
  const logger = memoryLogger();
  const clock = { now: () => now, timeOfDay: () => now + lead, sleep: async () => {} };
  const client = {
    get: async (_: unknown, name: string) => {
      await whileReading();
      const found = nodes.get(name) ?? volumes.get(name);
      if (found === undefined) throw refusal(404, 'NotFound');
      return found;
    },
    patch: async (
      { plural }: Resource,
      name: string,
      { status }: { status: (typeof writes)[number] },
    ) => {
      if (plural === PODS.plural) throw new Error(NO_PODS);
      const during = whileWriting;
      whileWriting = async () => {};
      await during();
      const refused = refusals.shift();
      if (refused !== undefined) throw refused;
      writes.push(status);
      const volume = volumes.get(name) as Volume;
      return { ...volume, status: { ...volume.status, ...status } };
    },
  } as unknown as KubeClient;
  const operations = createOperations<AttachmentOperationKind>({
    clock,
    caps: { attach: cap, detach: cap, verify: cap },
  });
  const p1 = podObject({}, {}, { name: 'p1' });
  const reconciler = createAttachmentReconciler({
    client,
    volumes,
    nodes,
    persistentVolumes: cache(),
    storageClasses: cache(),
    pods: cache(),
    uses: {
      of: () => (podNode === undefined ? [] : [{ pod: p1, use: use('p1', podNode) }]),
      volumesOf: () => ['u1'],
      namesOf: () => [],
      isPodActive: () => false,
    },
    attacher: {
      run: (operation, { status }, signal, precheck, tell) =>
        new Promise((end) => {
          ranBy.push(String(status?.prepared?.paths));
          last = { operation, end, precheck, tell, signal };
        }),
    },
    operations,
    events: {
      event: ({ metadata }, _type, reason) => void events.push(`${metadata.name} ${reason}`),
      flush: async () => {},
    },
    clock,
    random: () => 0,
    logger,
    managesNode: (name) => name !== 'foreign',
    statusProblem: ({ status }) =>
      String(status?.prepared?.paths) === '/srv/u1'
        ? undefined
        : 'status.prepared names another file',
    notReadySince: createNotReadyTimes(nodes, clock),
    maxWaitForUnmountMs: 360_000,
    pollIntervalMs: undefined,
    enqueue: (_name, afterMs) => void woken.push(afterMs),
    onForced: (reason) => forced.push(reason),
  });
  /** Reconciles once. Pods cannot be written here, which does not affect the decisions. */
  const decide = () =>
    reconciler.reconcile('v1').catch((error: Error) => {
      if (error.message !== NO_PODS) throw error;
    });
  const ran = () => last as Ran;
  /** Ends the running operation, which must be this one. */
  const end = async (kind: AttachmentOperationKind, on: string, outcome: Outcome) => {
    expect(last?.operation).toMatchObject({ kind, node: on });
    ran().end(outcome);
    await turns();
  };
  /** Verifies both nodes, as a new process does first, without a reconcile afterwards. */
  const verify = async (onFirst: Outcome, onSecond: Outcome = DETACHED) => {
    await decide();
    await end('verify', 'n1', onFirst);
    await decide();
    await end('verify', 'n2', onSecond);
  };
  const changeVolume = (spec: object, status: object = {}, metadata: object = {}) => {
    const volume = volumes.get('v1') as Volume;
    volumes.recordWrite(
      volumeObject({ ...volume.spec, ...spec }, { ...volume.status, ...status }, metadata),
    );
  };
  return {
    reconciler,
    nodes,
    volumes,
    cap,
    operations,
    /** Reason of each force-detach. */
    forced,
    /** Status of each write of the Volume. */
    writes,
    shown: () => writes.at(-1)?.attachments,
    /** Paths in the Volume's record at the start of each operation. */
    ranBy,
    events,
    lines: logger.lines,
    /** Delay of each requeue. */
    woken,
    decide,
    end,
    verify,
    /** Verifies both nodes. The following detach from n1 finds the device in use. */
    async detachInUse() {
      await verify(ATTACHED);
      await decide();
      await end('detach', 'n1', IN_USE);
    },
    changeVolume,
    /** Changes the record in the Volume's status, like another writer. */
    prepare: (change: Partial<Prepared>) =>
      changeVolume({}, { prepared: { ...volumeObject().status?.prepared, ...change } }),
    /** Makes the API server refuse the next writes of the Volume. */
    refuse: (...errors: Error[]) => void refusals.push(...errors),
    /** Returns the last started operation, whatever its result. */
    ran,
    running: () => last?.operation,
    /** Calls the precheck of the last started operation. */
    precheck: () => last?.precheck(),
    pass(ms: number) {
      now += ms;
    },
    /** Sets the time of day, forward or back. */
    setClock(ms: number) {
      lead += ms;
    },
    /** Runs `work` during the next read of an object from the API server. */
    whileReading(work: () => Promise<void>) {
      whileReading = async () => {
        whileReading = async () => {};
        await work();
      };
    },
    /** Runs `work` during the next write of the Volume. */
    whileWriting(work: () => Promise<void>) {
      whileWriting = work;
    },
    /** Moves the pod to that node, or deletes it. */
    movePod(name: string | undefined) {
      podNode = name;
    },
    entries: () =>
      [...reconciler.known()][0]?.entries.map((entry) => `${entry.node} ${entry.state}`),
  };
}
