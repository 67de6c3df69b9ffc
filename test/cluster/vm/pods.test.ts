import { randomUUID } from 'node:crypto';
import { dirname } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { execa } from 'execa';
import type { StorageClass } from '../../../src/api/core.ts';
import { DRIVER } from '../../../src/api/names.ts';
import { STORAGE_CLASSES } from '../../../src/api/resources.ts';
import type { Volume, VolumeMode } from '../../../src/api/volume.ts';
import { claimsOf } from '../../support/claim-objects.ts';
import { until } from '../../support/until.ts';
import { type Mounted, podsOf, writing } from '../kubelet/pods.ts';
import type { Scene } from '../kubelet/scene.ts';
import { volumesOf } from '../kubelet/volumes.ts';
import { placesIn, startScene, type VmMachine, withLogs } from './kubelet-scene.ts';
import { KINDS, type Kind, tagged } from './places.ts';
import { CONVERGES_WITHIN } from './scene.ts';
import { bootOf, createStaying, outputIn, readAll } from './staying-pod.ts';
import { stopwatch } from './stopwatch.ts';

let scene: Scene<VmMachine>;
let pods: ReturnType<typeof podsOf>;
let volumes: ReturnType<typeof volumesOf<Kind>>;
const took = stopwatch();

beforeAll(async () => {
  scene = await startScene();
  pods = podsOf(scene.client, undefined, CONVERGES_WITHIN);
  volumes = volumesOf(scene, placesIn(scene), CONVERGES_WITHIN);
  took('the VM a Ready node');
}, 1_800_000);
afterAll(() => scene?.stop());

/** Creates Volumes that are Available, with a claim for each. */
async function make(cases: readonly (readonly [Kind, VolumeMode])[]) {
  const made: { volume: Volume; mounted: Mounted }[] = [];
  for (const [kind, mode] of cases) {
    const fsType = kind === 'disk' || kind === 'logical volume' ? 'xfs' : 'ext4';
    const volume = await volumes.create(kind, mode, fsType);
    const { name } = volume.metadata;
    made.push({ volume, mounted: await pods.claim(name, name, mode) });
  }
  for (const { volume } of made) await available(volume);
  took('all Available');
  return made;
}

async function available({ metadata: { name } }: Volume): Promise<void> {
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
}

async function unmake(made: Awaited<ReturnType<typeof make>>): Promise<void> {
  const remove = async (name: string) => {
    await pods.unclaim(name);
    await volumes.remove(name);
  };
  await Promise.all(made.map(({ volume }) => remove(volume.metadata.name)));
  took('all deleted');
  for (const { volume } of made) await volumes.expectNothing(volume);
}

describe('a Volume that one pod writes and the next one reads', () => {
  const MODES: readonly VolumeMode[] = ['Filesystem', 'Block'];
  const cases = KINDS.flatMap((kind) => MODES.map((mode) => [kind, mode] as const));
  const word = randomUUID();
  let made: Awaited<ReturnType<typeof make>>;
  let found: string[] = [];

  beforeAll(
    () =>
      withLogs(scene, async () => {
        made = await make(cases);
        const all = made.map(({ mounted }) => mounted);
        await pods.run(
          'writes',
          all,
          all.map((each) => writing(each, `${word}-${each.claim}`)).join(' && '),
        );
        took('one pod has written all');
        found = (await pods.run('reads', all, readAll(all))).trimEnd().split('\n');
        took('the next has read all');
      }),
    4 * CONVERGES_WITHIN,
  );

  test.each(cases.map((each, index) => [...each, index] as const))('%s, %s', (_1, _2, index) => {
    const { claim } = made[index]?.mounted ?? { claim: '' };
    expect(found[index]).toBe(`${claim} ${word}-${claim}`);
  });
  test('leaves nothing behind', () => withLogs(scene, () => unmake(made)), 2 * CONVERGES_WITHIN);
});

test(
  'an on-demand Volume is attached for a pod, detached after it, and keeps its data',
  () =>
    withLogs(scene, async () => {
      const places = placesIn(scene);
      const onDemand = volumesOf<Kind>(
        scene,
        {
          ...places,
          storage: async (kind) => ({
            ...(await places.storage(kind)),
            attachPolicy: 'OnDemand',
            // The disks had volumes before.
            ...(kind === 'disk' || kind === 'partition' ? { overwrite: 'unknown data' } : {}),
          }),
        },
        CONVERGES_WITHIN,
      );
      const made: { volume: Volume; mounted: Mounted }[] = [];
      for (const kind of KINDS) {
        const volume = await onDemand.create(
          kind,
          'Filesystem',
          'ext4',
          `on-demand-${made.length}`,
        );
        const { name } = volume.metadata;
        made.push({ volume, mounted: await pods.claim(name, name, 'Filesystem') });
      }
      const all = made.map(({ mounted }) => mounted);
      for (const { volume } of made) await available(volume);
      const attachmentsOf = async () =>
        Promise.all(
          made.map(
            async ({ volume }) =>
              (await volumes.get(volume.metadata.name)).status?.attachments ?? [],
          ),
        );
      const isDetached = () =>
        until(
          'no Volume is attached',
          async () =>
            (await attachmentsOf()).every((each) => each.length === 0) ? true : undefined,
          CONVERGES_WITHIN,
        );
      await isDetached();
      const word = randomUUID();
      await createStaying(pods, 'attached', all);
      await until(
        'all Volumes are attached',
        async () =>
          (await attachmentsOf()).every(
            ([each]) => each?.state === 'Attached' && each.pods.length === 1,
          ) || undefined,
        CONVERGES_WITHIN,
      );
      await pods.remove('attached');
      await isDetached();
      await pods.run(
        'writes-too',
        all,
        all.map((each) => writing(each, `${word}-${each.claim}`)).join(' && '),
      );
      await isDetached();
      const read = (await pods.run('reads-too', all, readAll(all))).trimEnd().split('\n');
      expect(read).toEqual(all.map(({ claim }) => `${claim} ${word}-${claim}`));
      await isDetached();
      await unmake(made);
    }),
  4 * CONVERGES_WITHIN,
);

test(
  'a pod restarts with its data after a reboot of its node',
  () =>
    withLogs(scene, async () => {
      const { vm } = scene.machine;
      const made = await make([
        ['sparse file', 'Filesystem'],
        ['sparse file', 'Block'],
        ['logical volume', 'Filesystem'],
        ['thin volume', 'Filesystem'],
      ]);
      const all = made.map(({ mounted }) => mounted);
      await createStaying(pods, 'stays', all);
      const before = await bootOf(vm);
      expect(await outputIn(vm, 'stays', before)).toEqual(all.map(({ claim }) => `${claim} `));
      took('a pod has them all');

      await vm.reboot();
      took('sshd answers after the reboot');
      const after = await bootOf(vm);
      expect(after).not.toBe(before);
      expect(await outputIn(vm, 'stays', after)).toEqual(
        all.map(({ claim }) => `${claim} ${before}`),
      );
      took('the pod has them all again');
      for (const { volume } of made) await available(volume);
      const tooEarly = [
        '--field-selector',
        'reason=FailedMount',
        '-o',
        'jsonpath={.items[*].count}',
      ];
      const { stdout } = await scene.kubectl('get', 'events', ...tooEarly);
      process.stderr.write(`mounts that the kubelet tried too early: ${stdout || 'none'}\n`);

      await pods.remove('stays');
      await unmake(made);
    }),
  4 * CONVERGES_WITHIN,
);

test(
  'the command that why prints binds a claim blocked by data of removed volumes',
  () =>
    withLogs(scene, async () => {
      const { client, controlPlane, machine, stowage } = scene;
      const { vm } = machine;
      const LEFT =
        'lvcreate -qq -Wn -Zn -l 100%FREE -n earlier vg0 && mkfs.xfs -qfK /dev/vg0/earlier && lvremove -qq -y vg0/earlier';
      await vm.run(['sh', '-c', LEFT]);
      const { stdout: free } = await vm.run([
        'vgs',
        '--noheadings',
        '--units',
        'b',
        '--nosuffix',
        '-o',
        'vg_free',
        'vg0',
      ]);
      await client.create<StorageClass>(STORAGE_CLASSES, {
        ...{ apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', provisioner: DRIVER },
        metadata: { name: 'left' },
        parameters: { type: 'lvm', vgName: 'vg0' },
        ...{ volumeBindingMode: 'Immediate', reclaimPolicy: 'Delete' },
      });
      const claims = claimsOf(client, {
        ...{ storageClassName: 'left', size: free.trim(), withinMs: CONVERGES_WITHIN },
      });
      await claims.create('default/left');
      await claims.isTold('default/left', 'contain data of removed volumes');
      // The daemon removes the refused Volume first.
      const run = await until(
        'why reports FreeExtentsCarryData',
        async () => {
          const { cause, fix } = JSON.parse(
            (await stowage('why', 'pvc', 'left', '-o', 'json')).stdout,
          );
          return cause === 'FreeExtentsCarryData' ? (fix.run as string[]) : undefined;
        },
        CONVERGES_WITHIN,
      );
      const env = {
        PATH: `${dirname(controlPlane.kubectl)}:${process.env.PATH}`,
        KUBECONFIG: controlPlane.kubeconfig,
      };
      await execa('bash', ['-ec', run.join('\n')], { env });
      await claims.isBound('default/left');
      await claims.remove('default/left');
      await until(
        'no logical volume is left',
        async () => (await tagged(vm, 'stowage.dev')).length === 0 || undefined,
        CONVERGES_WITHIN,
      );
    }),
  3 * CONVERGES_WITHIN,
);
