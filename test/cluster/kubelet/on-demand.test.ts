import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, expect, jest, test } from '@jest/globals';
import { execa } from 'execa';
import type { PersistentVolume, Pod } from '../../../src/api/core.ts';
import type { KubeObject } from '../../../src/api/meta.ts';
import { ATTACHED_NODES_ANNOTATION, VOLUMES_ATTACHED_CONDITION } from '../../../src/api/names.ts';
import { PERSISTENT_VOLUMES, PODS } from '../../../src/api/resources.ts';
import type { Volume, VolumeMode } from '../../../src/api/volume.ts';
import type { Backing } from '../../support/kinds.ts';
import { describeAsRoot } from '../../support/root.ts';
import { until } from '../../support/until.ts';
import { IMAGE } from './image.ts';
import { placesHere } from './places.ts';
import { type Mounted, NAMESPACE, podsOf, reading, writing } from './pods.ts';
import { type Scene, startScene, type ThisMachine } from './scene.ts';
import { type Places, volumesOf } from './volumes.ts';

/** Timeout in ms: pods are slow on a busy machine. */
jest.setTimeout(240_000);

describeAsRoot('Volumes that are attached on demand, in pods of a real kubelet', () => {
  let scene: Scene<ThisMachine>;
  let pods: ReturnType<typeof podsOf>;
  let volumes: ReturnType<typeof volumesOf<Backing>>;

  beforeAll(async () => {
    scene = await startScene();
    pods = podsOf(scene.client);
    volumes = volumesOf(scene, onDemand(placesHere(scene)));
  }, 600_000);
  afterEach(() => volumes?.clean());
  afterAll(() => scene?.stop());

  const onDemand = (places: Places<Backing>): Places<Backing> => ({
    ...places,
    storage: async (kind) => ({ ...(await places.storage(kind)), attachPolicy: 'OnDemand' }),
  });

  const loopsOf = async (uid = '') =>
    (await execa('losetup', ['-n', '-O', 'NAME,BACK-FILE'])).stdout
      .split('\n')
      .filter((line) => line.includes(uid))
      .map((line) => line.split(' ')[0]);

  async function make(
    mode: VolumeMode = 'Filesystem',
    kind: Backing = 'sparse file',
  ): Promise<Volume> {
    const { metadata } = await volumes.create(kind, mode);
    const volume = await until(`Volume ${metadata.name} Available`, async () => {
      const found = await volumes.get(metadata.name);
      if (found.status?.phase === 'Failed')
        throw new Error(JSON.stringify(found.status.conditions));
      return found.status?.phase === 'Available' ? found : undefined;
    });
    expect(await loopsOf(metadata.uid)).toEqual([]);
    return volume;
  }

  /** Waits until no loop device has the volume, and status and annotation record that. */
  const detached = ({ metadata: { name, uid } }: Volume) =>
    until(`Volume ${name} detached`, async () => {
      const { status } = await volumes.get(name);
      const pv = await scene.client.get<PersistentVolume>(PERSISTENT_VOLUMES, name);
      const record = pv.metadata.annotations?.[ATTACHED_NODES_ANNOTATION];
      const told = (status?.attachments ?? []).length === 0 && record === '[]';
      return told && (await loopsOf(uid)).length === 0 ? true : undefined;
    });

  /**
   * Returns the daemon's operations on the node for the volume, in order, without verifications.
   */
  async function operationsOf({ metadata: { name } }: Volume): Promise<string[]> {
    const lines = (await readFile(scene.log, 'utf8'))
      .split('\n')
      .filter((line) => line.startsWith('{'));
    return lines
      .map((line) => JSON.parse(line) as { msg?: string; volume?: string; kind?: string })
      .filter(
        ({ msg, volume, kind }) =>
          msg === 'operation ended' && volume === name && kind !== 'verify',
      )
      .map(({ kind = '' }) => kind);
  }

  async function unmake(volume: Volume): Promise<void> {
    await volumes.remove(volume.metadata.name);
    await volumes.expectNothing(volume);
  }

  test.each<[Backing, VolumeMode]>([
    ['sparse file', 'Filesystem'],
    ['sparse file', 'Block'],
    ['disk', 'Filesystem'],
    ['partition', 'Block'],
  ])(
    'a Volume is detached after each pod, and the next pod reads its data (%s, %s)',
    async (kind, mode) => {
      const volume = await make(mode, kind);
      const { name } = volume.metadata;
      const mounted = await pods.claim(name, name, mode);
      const word = randomUUID();
      await pods.run(`${name}-writes`, [mounted], writing(mounted, word));
      await detached(volume);
      expect((await pods.run(`${name}-reads`, [mounted], reading(mounted))).trimEnd()).toBe(word);
      await detached(volume);
      // A disk exists without an attach operation of its own before its first use.
      const before = kind === 'sparse file' ? [] : ['detach'];
      const each = ['attach', 'detach'];
      expect(await operationsOf(volume)).toEqual([...before, ...each, ...each]);
      await pods.unclaim(name);
      await unmake(volume);
    },
  );

  test('a Volume that two pods use is attached once, and detached after the last one', async () => {
    const volume = await make();
    const { name, uid = '' } = volume.metadata;
    const mounted = await pods.claim(name, name, 'Filesystem');
    await pods.start(`${name}-first`, mounted);
    const before = await loopsOf(uid);
    expect(before).toHaveLength(1);
    await pods.start(`${name}-second`, mounted);
    await pods.remove(`${name}-first`);
    const left = `${NAMESPACE}/${name}-second`;
    await until(`only ${left} uses the device`, async () =>
      (await volumes.get(name)).status?.attachments?.[0]?.pods.join() === left ? true : undefined,
    );
    expect(await loopsOf(uid)).toEqual(before);
    await pods.remove(`${name}-second`);
    await detached(volume);
    expect(await operationsOf(volume)).toEqual(['attach', 'detach']);
    await pods.unclaim(name);
    await unmake(volume);
  });

  test.each<VolumeMode>(['Filesystem', 'Block'])(
    'a force-deleted pod keeps the device attached until the kubelet unmounts it (%s)',
    async (mode) => {
      const volume = await make(mode);
      const { name, uid = '' } = volume.metadata;
      const mounted = await pods.claim(name, name, mode);
      await pods.start(`${name}-holds`, mounted, { graceSeconds: 10 });
      await scene.kubectl('delete', 'pod', `${name}-holds`, '--force', '--grace-period=0');
      const held = await until('the attachment has a message', async () => {
        const [attachment] = (await volumes.get(name)).status?.attachments ?? [];
        return attachment?.pods.length === 0 ? attachment.message : undefined;
      });
      expect(held).toMatch(/in use|kubelet/);
      expect(await loopsOf(uid)).toHaveLength(1);
      await until('the device is detached after the mounts are gone', async () => {
        const loops = await loopsOf(uid);
        const mounts = await readFile('/proc/self/mountinfo', 'utf8');
        if (loops.length === 0) expect(mounts).not.toMatch(placesOf(name));
        return loops.length === 0 ? true : undefined;
      });
      await detached(volume);
      await pods.unclaim(name);
      await unmake(volume);
    },
  );

  const conditionOf = ({ status }: Pod, type: string) =>
    status?.conditions?.find((condition) => condition.type === type);

  test('a pod with the readiness gate for attached volumes becomes Ready', async () => {
    const volume = await make();
    const { name } = volume.metadata;
    const mounted = await pods.claim(name, name, 'Filesystem');
    await pods.start(`${name}-gated`, mounted, { readinessGates: [VOLUMES_ATTACHED_CONDITION] });
    const pod = await until('the pod is Ready', async () => {
      const found = await scene.client.get<Pod>(PODS, `${name}-gated`, { namespace: NAMESPACE });
      return conditionOf(found, 'Ready')?.status === 'True' ? found : undefined;
    });
    expect(conditionOf(pod, VOLUMES_ATTACHED_CONDITION)).toMatchObject({ status: 'True' });
    await pods.remove(`${name}-gated`);
    await pods.unclaim(name);
    await detached(volume);
    await unmake(volume);
  });

  test('attaches the device for a pod that uses it as a hostPath without a claim', async () => {
    const volume = await make('Block');
    const { name, uid } = volume.metadata;
    const place = { claim: name, mode: 'Block' } satisfies Mounted;
    await scene.client.create<KubeObject>(PODS, inlinePod(`${name}-inline`, volume, place), {
      namespace: NAMESPACE,
    });
    await pods.inPhase(`${name}-inline`, 'Running');
    expect(await loopsOf(uid)).toHaveLength(1);
    expect((await volumes.get(name)).status?.attachments).toMatchObject([
      { node: scene.node, state: 'Attached', pods: [`${NAMESPACE}/${name}-inline`] },
    ]);
    await pods.remove(`${name}-inline`);
    await detached(volume);
    expect(await operationsOf(volume)).toEqual(['attach', 'detach']);
    await unmake(volume);
  });
});

/** Matches the paths where a kubelet mounts a PersistentVolume or binds its device. */
const placesOf = (pv: string) => new RegExp(`local-volume/(?:mounts/|volumeDevices/)?${pv}[ /]`);

/** Returns a pod that ends if its path is not a device. */
function inlinePod(name: string, { status }: Volume, { claim }: Mounted): KubeObject {
  const path = `/volumes/${claim}`;
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: {
      restartPolicy: 'Never',
      hostNetwork: true,
      automountServiceAccountToken: false,
      terminationGracePeriodSeconds: 1,
      containers: [
        {
          ...{ name: 'c', image: IMAGE, imagePullPolicy: 'Never' },
          command: ['sh', '-c', `test -b ${path} && sleep infinity`],
          volumeMounts: [{ name: 'device', mountPath: path }],
        },
      ],
      volumes: [
        { name: 'device', hostPath: { path: status?.devicePath ?? '', type: 'BlockDevice' } },
      ],
    },
  };
  return pod;
}
