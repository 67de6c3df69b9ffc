import { rename, stat } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { VOLUMES } from '../../src/api/resources.ts';
import { sparseVolume } from '../support/cluster.ts';
import { leftovers } from '../support/leftovers.ts';
import { describeAsRoot } from '../support/root.ts';
import { until } from '../support/until.ts';
import { startVolumeScene, TRANSPORTS, type VolumeScene } from '../support/volume-scene.ts';

/** Takes two of the daemon's periods of verification. */
describeAsRoot.each(TRANSPORTS)('a sparse ext4 volume over %s', (transport) => {
  let scene: VolumeScene;

  beforeAll(async () => {
    scene = await startVolumeScene(transport);
  });
  afterAll(async () => {
    expect(await scene?.stop()).toBe(0);
  });

  test('is reattached with its data after an external detach and a missing file', async () => {
    await scene.client.create(VOLUMES, sparseVolume('back', 'n1', '64Mi'));
    const { status, metadata } = await scene.settled('back');
    await scene.run('sh', [
      '-c',
      'printf kept | dd of="$1" bs=4k seek=4000 conv=notrunc,fsync status=none',
      'sh',
      status?.devicePath ?? '',
    ]);
    const file = `/var/lib/metalk8s/storage/sparse/${metadata.uid}`;
    await rename(file, `${file}.away`);
    await scene.run('losetup', ['-d', `/dev/${status?.deviceName}`]);
    const link = `/dev/disk/by-id/stowage-${metadata.uid}`;
    await until('the link is gone', () =>
      stat(link).then(
        () => undefined,
        () => true,
      ),
    );
    const missing = await until('the Volume is not Ready', async () => {
      const ready = (await scene.get('back')).status?.conditions?.[0];
      return ready?.status === 'False' ? ready : undefined;
    });
    expect(missing).toMatchObject({
      reason: 'UnavailableError',
      message: expect.stringContaining('is missing'),
    });
    await expect(stat(file)).rejects.toThrow('ENOENT');
    await rename(`${file}.away`, file);
    await until('the link is back', () =>
      stat(link).then(
        () => true,
        () => undefined,
      ),
    );
    const { stdout } = await scene.run('dd', [
      `if=${link}`,
      'bs=4k',
      'skip=4000',
      'count=1',
      'status=none',
    ]);
    expect(stdout.slice(0, 4)).toBe('kept');
    await until('the Volume is Ready again', async () =>
      (await scene.get('back')).status?.conditions?.[0]?.status === 'True' ? true : undefined,
    );
    await scene.client.delete(VOLUMES, 'back');
    await scene.gone('back');
    expect(await leftovers({ client: scene.client })).toEqual([]);
  });
});
