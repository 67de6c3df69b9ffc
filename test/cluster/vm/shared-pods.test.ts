import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { KubeEvent, KubeNode, PersistentVolume } from '../../../src/api/core.ts';
import { ATTACHED_NODES_ANNOTATION, OUT_OF_SERVICE_TAINT } from '../../../src/api/names.ts';
import { EVENTS, NODES, PERSISTENT_VOLUMES, PODS } from '../../../src/api/resources.ts';
import type { Volume, VolumeMode } from '../../../src/api/volume.ts';
import { until } from '../../support/until.ts';
import { isReady } from '../kubelet/kubelet.ts';
import { type Mounted, NAMESPACE, podsOf, reading, writing } from '../kubelet/pods.ts';
import type { Scene } from '../kubelet/scene.ts';
import { volumesOf } from '../kubelet/volumes.ts';
import { withLogs } from './kubelet-scene.ts';
import { CONVERGES_WITHIN } from './scene.ts';
import { NAMES, type Name } from './shared-directory.ts';
import { longestGap, overlaps, type Sampling, spansOf, startSampling } from './shared-samples.ts';
import { MAX_WAIT, placesIn, type SharedMachine, startScene } from './shared-scene.ts';
import { stopwatch } from './stopwatch.ts';

let scene: Scene<SharedMachine>;
let pods: ReturnType<typeof podsOf>;
let volumes: ReturnType<typeof volumesOf<'shared'>>;
let sampled: { vm: Name; sampling: Sampling }[] = [];
const took = stopwatch();

beforeAll(async () => {
  scene = await startScene();
  pods = podsOf(scene.client, undefined, CONVERGES_WITHIN);
  volumes = volumesOf(scene, placesIn(scene), CONVERGES_WITHIN);
  took('two VMs with a shared directory are Ready nodes');
}, 1_800_000);
afterAll(() => scene?.stop());
beforeEach(() => {
  sampled = [];
  for (const name of NAMES) sample(name);
});
afterEach(async () => {
  for (const { sampling } of sampled) await sampling.stop();
});

const vm = (name: Name) => scene.machine.sharing.vms[name];
const sample = (name: Name) => sampled.push({ vm: name, sampling: startSampling(vm(name)) });

/** Returns when each VM had the Volume's file attached, sorted by time. */
function spans({ metadata: { uid = '' } }: Volume) {
  const all = sampled.flatMap((each) => spansOf(each.vm, each.sampling.samples(), uid));
  return all.toSorted((a, b) => a.from - b.from);
}

/** Checks that it was attached on these nodes in sequence, and never on both at once. */
function expectMoves(volume: Volume, ...nodes: Name[]): void {
  const found = spans(volume);
  const gaps = sampled.map(
    (each) => `${each.vm} ${Math.round(longestGap(each.sampling.samples()))} ms`,
  );
  console.info(`looked at losetup -a with gaps of no more than ${gaps.join(', ')}`);
  expect(overlaps(found)).toEqual([]);
  expect(found.map((span) => span.vm)).toEqual(nodes);
}

/** Creates an available Volume that is attached nowhere, and a claim for it. */
async function make(mode: VolumeMode): Promise<{ volume: Volume; mounted: Mounted }> {
  const volume = await volumes.create('shared', mode);
  const { name } = volume.metadata;
  const mounted = await pods.claim(name, name, mode);
  await until(
    `Volume ${name} Available`,
    async () => {
      const { status } = await volumes.get(name);
      if (status?.phase === 'Failed')
        throw new Error(`Volume ${name}: ${JSON.stringify(status.conditions)}`);
      return status?.phase === 'Available' ? true : undefined;
    },
    CONVERGES_WITHIN,
  );
  return { volume, mounted };
}

async function unmake({ volume }: { volume: Volume }): Promise<void> {
  const { name } = volume.metadata;
  await pods.unclaim(name);
  await volumes.remove(name);
  await volumes.expectNothing(volume);
}

/** Waits until no node has it attached, and status and annotation record that. */
async function detached({ metadata: { name, uid = '' } }: Volume): Promise<void> {
  await until(
    `Volume ${name} detached`,
    async () => {
      const { status } = await volumes.get(name);
      const pv = await scene.client.get<PersistentVolume>(PERSISTENT_VOLUMES, name);
      const record = pv.metadata.annotations?.[ATTACHED_NODES_ANNOTATION];
      return (status?.attachments ?? []).length === 0 && record === '[]' ? true : undefined;
    },
    CONVERGES_WITHIN,
  );
  for (const node of NAMES) {
    expect((await vm(node).run(['losetup', '-a'])).stdout).not.toContain(uid);
  }
}

const eventsOf = async (name: string) => {
  const { items } = await scene.client.list<KubeEvent>(EVENTS);
  return items.filter(({ involvedObject }) => involvedObject.name === name);
};
const nodeNamed = (name: Name) => scene.client.get<KubeNode>(NODES, name);

test.each<VolumeMode>(['Filesystem', 'Block'])(
  'pods on two nodes read each other’s data in turn (%s)',
  (mode) =>
    withLogs(scene, async () => {
      const made = await make(mode);
      const { volume, mounted } = made;
      const { name } = volume.metadata;
      const [one, two] = [randomUUID(), randomUUID()];
      await pods.run(`${name}-writes`, [mounted], writing(mounted, one), { node: 'vm1' });
      took(`${mode}: written on vm1`);
      const there = await pods.run(`${name}-reads`, [mounted], reading(mounted), { node: 'vm2' });
      expect(there.trimEnd()).toBe(one);
      took(`${mode}: read on vm2`);
      // On the same node again, it is attached again or still attached.
      await detached(volume);
      await pods.run(`${name}-writes-again`, [mounted], writing(mounted, two), { node: 'vm2' });
      const back = await pods.run(`${name}-reads-again`, [mounted], reading(mounted), {
        node: 'vm1',
      });
      expect(back.trimEnd()).toBe(two);
      await detached(volume);
      took(`${mode}: there and back`);
      expectMoves(volume, 'vm1', 'vm2', 'vm2', 'vm1');
      await unmake(made);
    }),
  6 * CONVERGES_WITHIN,
);

test(
  'a Volume that two pods on one node use is attached once, and detached after the last one',
  () =>
    withLogs(scene, async () => {
      const made = await make('Filesystem');
      const { volume, mounted } = made;
      const { name } = volume.metadata;
      await pods.start(`${name}-first`, mounted, { node: 'vm1' });
      await pods.start(`${name}-second`, mounted, { node: 'vm1' });
      await pods.remove(`${name}-first`);
      const left = `${NAMESPACE}/${name}-second`;
      const attachments = await until(
        `only ${left} uses the device`,
        async () => {
          const { status } = await volumes.get(name);
          return status?.attachments?.[0]?.pods.join() === left ? status.attachments : undefined;
        },
        CONVERGES_WITHIN,
      );
      expect(attachments).toMatchObject([{ node: 'vm1', state: 'Attached', safeToMount: true }]);
      await pods.remove(`${name}-second`);
      await detached(volume);
      took('two pods have come and gone');
      expectMoves(volume, 'vm1');
      await unmake(made);
    }),
  4 * CONVERGES_WITHIN,
);

test(
  'a node without power keeps its Volume until it is tainted, and is cleaned up on return',
  () =>
    withLogs(scene, async () => {
      const made = await make('Filesystem');
      const { volume, mounted } = made;
      const { name } = volume.metadata;
      const word = randomUUID();
      const script = `${writing(mounted, word)} && touch /tmp/written && sleep infinity`;
      await pods.create(`${name}-holds`, [mounted], script, { node: 'vm1' });
      await until(
        'the word is written',
        async () => {
          const look = 'cat /var/lib/kubelet/pods/*/volumes/kubernetes.io~local-volume/"$1"/word';
          const { stdout } = await vm('vm1').run(['sh', '-c', look, 'sh', name], { reject: false });
          return stdout.includes(word) ? true : undefined;
        },
        CONVERGES_WITHIN,
      );
      // The pod syncs its file itself. Data in the VM's page cache is lost with the power.
      await vm('vm1').run(['sync']);
      took('written on vm1');

      await vm('vm1').powerCut();
      await scene.client.delete(PODS, `${name}-holds`, { namespace: NAMESPACE });
      await pods.create(
        `${name}-waits`,
        [mounted],
        `{ ${reading(mounted)}; } >/dev/termination-log 2>&1`,
        {
          node: 'vm2',
        },
      );
      await until(
        'vm1 NotReady',
        async () => (isReady(await nodeNamed('vm1')) ? undefined : true),
        CONVERGES_WITHIN,
      );
      const why = await until(
        'the event of the waiting pod',
        async () =>
          (await eventsOf(`${name}-waits`)).find(({ message }) =>
            message?.includes('may still write'),
          ),
        CONVERGES_WITHIN,
      );
      expect(why).toMatchObject({
        reason: 'FailedAttachVolume',
        message: expect.stringContaining(OUT_OF_SERVICE_TAINT),
      });
      // Longer than the wait for a volume that needs no fence.
      await sleep(3 * MAX_WAIT * 1000);
      expect((await volumes.get(name)).status?.attachments).toMatchObject([{ node: 'vm1' }]);
      expect(spans(volume).map((span) => span.vm)).toEqual(['vm1']);
      took('without the taint it stays');

      await scene.kubectl(
        'taint',
        'nodes',
        'vm1',
        `${OUT_OF_SERVICE_TAINT}=nodeshutdown:NoExecute`,
      );
      const { status } = await pods.inPhase(`${name}-waits`, 'Succeeded', 'Failed');
      expect(JSON.stringify(status)).toContain(word);
      took('with the taint it is read on vm2');
      expect(await eventsOf(name)).toContainEqual(
        expect.objectContaining({
          reason: 'ForcedDetach',
          message: expect.stringContaining('vm1'),
        }),
      );
      await pods.remove(`${name}-waits`);
      await detachedOn('vm2', volume);

      await vm('vm1').boot();
      await scene.machine.sharing.mount('vm1');
      sample('vm1');
      await until(
        'vm1 Ready',
        async () => (isReady(await nodeNamed('vm1')) ? true : undefined),
        CONVERGES_WITHIN,
      );
      await scene.kubectl('taint', 'nodes', 'vm1', `${OUT_OF_SERVICE_TAINT}-`);
      await until(
        'the earlier pod is gone',
        async () => {
          const { items } = await scene.client.list(PODS, { namespace: NAMESPACE });
          return items.some(({ metadata }) => metadata.name === `${name}-holds`) ? undefined : true;
        },
        CONVERGES_WITHIN,
      );
      await detached(volume);
      took('vm1 is back, and clean');
      const found = await pods.run(`${name}-reads`, [mounted], reading(mounted), { node: 'vm1' });
      expect(found.trimEnd()).toBe(word);
      await detached(volume);
      expectMoves(volume, 'vm1', 'vm2', 'vm1');
      await unmake(made);
    }),
  8 * CONVERGES_WITHIN,
);

async function detachedOn(name: Name, { metadata: { uid = '' } }: Volume): Promise<void> {
  await until(
    `detached on ${name}`,
    async () => {
      const { stdout } = await vm(name).run(['losetup', '-a']);
      return stdout.includes(uid) ? undefined : true;
    },
    CONVERGES_WITHIN,
  );
}
