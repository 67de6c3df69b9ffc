import { randomUUID } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { PersistentVolume } from '../../../src/api/core.ts';
import { PROTECTION_FINALIZER } from '../../../src/api/names.ts';
import {
  PERSISTENT_VOLUME_CLAIMS,
  PERSISTENT_VOLUMES,
  STORAGE_CLASSES,
  VOLUMES,
} from '../../../src/api/resources.ts';
import type { Volume, VolumeMode } from '../../../src/api/volume.ts';
import type { Backing } from '../../support/kinds.ts';
import { describeAsRoot } from '../../support/root.ts';
import { until } from '../../support/until.ts';
import { placesHere } from './places.ts';
import { type Mounted, NAMESPACE, podsOf, reading, writing } from './pods.ts';
import { type Scene, startScene, type ThisMachine } from './scene.ts';
import { readyOf, volumesOf } from './volumes.ts';

describeAsRoot('Volumes in pods of a real kubelet', () => {
  let scene: Scene<ThisMachine>;
  let pods: ReturnType<typeof podsOf>;
  let volumes: ReturnType<typeof volumesOf<Backing>>;

  beforeAll(async () => {
    scene = await startScene();
    pods = podsOf(scene.client);
    // Only bounds a wait that cannot succeed.
    volumes = volumesOf(scene, placesHere(scene), 300_000);
  }, 600_000);
  afterEach(() => volumes?.clean());
  afterAll(() => scene?.stop());

  const pvNamed = (name: string) => scene.client.get<PersistentVolume>(PERSISTENT_VOLUMES, name);

  async function write(name: string, mounted: Mounted): Promise<string> {
    const word = randomUUID();
    await pods.run(`${name}-writes`, [mounted], writing(mounted, word));
    return word;
  }
  const read = async (name: string, mounted: Mounted) =>
    (await pods.run(`${name}-reads`, [mounted], reading(mounted))).trimEnd();

  const cases: [Backing, VolumeMode, string][] = [
    ['sparse file', 'Filesystem', 'ext4'],
    ['disk', 'Filesystem', 'xfs'],
    ['partition', 'Filesystem', 'ext4'],
    ['sparse file', 'Block', 'ext4'],
    ['disk', 'Block', 'ext4'],
    ['partition', 'Block', 'ext4'],
  ];
  /** Run concurrently, as they mostly wait. */
  describe('a Volume that one pod writes and the next one reads', () => {
    let outcomes: PromiseSettledResult<Volume>[];
    beforeAll(async () => {
      outcomes = await Promise.allSettled(cases.map((each) => writeAndRead(...each)));
    }, 600_000);
    test.each(cases.map((each, index) => [...each, index] as const))(
      '%s, %s, %s',
      (_1, _2, _3, index) => {
        const outcome = outcomes[index];
        if (outcome?.status === 'rejected') throw outcome.reason;
      },
    );
    test('leaves nothing behind', async () => {
      for (const outcome of outcomes)
        if (outcome.status === 'fulfilled') await volumes.expectNothing(outcome.value);
    });
  });

  async function writeAndRead(backing: Backing, mode: VolumeMode, fsType: string): Promise<Volume> {
    const volume = await volumes.create(backing, mode, fsType);
    const { name } = volume.metadata;
    const mounted = await pods.claim(name, name, mode);
    const word = await write(name, mounted);
    expect(await read(name, mounted)).toBe(word);
    await pods.unclaim(name);
    await volumes.remove(name);
    return volume;
  }

  test.each<VolumeMode>(['Filesystem', 'Block'])(
    'a Volume in use (%s) is not deleted until pod and claim are gone',
    async (mode) => {
      const volume = await volumes.create('sparse file', mode);
      const { name } = volume.metadata;
      const mounted = await pods.claim(name, name, mode);
      const word = await write(name, mounted);
      await pods.start(`${name}-holds`, mounted);
      const refused = await scene.stowage('delete', 'volume', name);
      const claim = `claim ${NAMESPACE}/${name}`;
      expect([refused.exitCode, refused.stderr]).toEqual([5, expect.stringContaining(claim)]);

      await scene.client.delete(VOLUMES, name);
      const { status } = await volumes.saying(name, `it is bound to the ${claim}`);
      expect(await read(name, mounted)).toBe(word);
      await scene.client.delete(PERSISTENT_VOLUME_CLAIMS, name, { namespace: NAMESPACE });
      expect((await pvNamed(name)).status?.phase).toBe('Bound');
      expect(await realpath(status?.devicePath ?? '')).toBe(`/dev/${status?.deviceName}`);
      await pods.remove(`${name}-holds`);
      await volumes.gone(name);
      await volumes.expectNothing(volume);
    },
  );

  test('a Volume is not deleted while a force-deleted pod still has it mounted', async () => {
    const volume = await volumes.create('sparse file');
    const { name } = volume.metadata;
    const mounted = await pods.claim(name, name, 'Filesystem');
    await pods.start(`${name}-holds`, mounted, { graceSeconds: 10 });
    await scene.kubectl('delete', 'pod', `${name}-holds`, '--force', '--grace-period=0');
    await pods.unclaim(name);
    await scene.client.delete(VOLUMES, name);
    const held = await volumes.saying(name, 'is in use: mounted at');
    expect(readyOf(held)?.message).toMatch(/mounted at .*\/pods\/.*local-volume/);
    expect(await realpath(held.status?.devicePath ?? '')).toBe(`/dev/${held.status?.deviceName}`);
    await volumes.gone(name);
    await volumes.expectNothing(volume);
  });

  test('a deleted PersistentVolume stays Terminating until its Volume is deleted', async () => {
    const volume = await volumes.create('sparse file');
    const { name } = volume.metadata;
    const mounted = await pods.claim(name, name, 'Filesystem');
    const word = await write(name, mounted);
    await scene.client.delete(PERSISTENT_VOLUMES, name);
    const marked = await volumes.saying(name, 'the PersistentVolume is marked for deletion');
    expect([marked.status?.phase, readyOf(marked)?.status]).toEqual(['Available', 'True']);
    expect(await read(name, mounted)).toBe(word);
    await pods.unclaim(name);
    // Kubernetes' own finalizers go with the claim.
    const pv = await until(`${name} held by its Volume alone`, async () => {
      const pv = await pvNamed(name);
      return pv.metadata.finalizers?.join() === PROTECTION_FINALIZER ? pv : undefined;
    });
    expect([pv.status?.phase, pv.metadata.deletionTimestamp]).toEqual([
      'Released',
      expect.any(String),
    ]);
    expect((await volumes.get(name)).status?.phase).toBe('Available');
    await volumes.remove(name);
    await volumes.expectNothing(volume);
  });

  test('a Volume whose storage class was deleted can still be used and deleted', async () => {
    const volume = await volumes.create('partition');
    const { name } = volume.metadata;
    const mounted = await pods.claim(name, name, 'Filesystem');
    const word = await write(name, mounted);
    await scene.client.delete(STORAGE_CLASSES, name);
    expect(await read(name, mounted)).toBe(word);
    await pods.unclaim(name);
    await volumes.remove(name);
    await volumes.expectNothing(volume);
  });

  const after = (waitMs: number, from = Date.now()) =>
    until('the delay has passed', async () => (Date.now() - from >= waitMs ? true : undefined));

  test('a Volume deleted while Pending leaves nothing behind, at any stage', async () => {
    for (const waitMs of [0, 100, 200, 400]) {
      const volume = await volumes.create('disk');
      await after(waitMs);
      await scene.client.delete(VOLUMES, volume.metadata.name);
      await volumes.gone(volume.metadata.name);
      await volumes.expectNothing(volume);
    }
  });

  test('a Volume deleted while a pod waits for it goes at once or with its claim', async () => {
    for (const waitMs of [0, 400, 800]) {
      const name = `waited-${waitMs}`;
      const mounted = await pods.claim(name, name, 'Filesystem');
      await pods.create(name, [mounted], 'true');
      const volume = await volumes.create('sparse file', 'Filesystem', 'ext4', name);
      await after(waitMs);
      await scene.client.delete(VOLUMES, name);
      await until(`${name} gone or held by its claim`, async () => {
        const left = await volumes.present(name);
        const held = left && readyOf(left)?.message?.includes('bound to the claim');
        return left === undefined || held ? true : undefined;
      });
      await pods.remove(name);
      await pods.unclaim(name);
      await volumes.gone(name);
      await volumes.expectNothing(volume);
    }
  });
});
