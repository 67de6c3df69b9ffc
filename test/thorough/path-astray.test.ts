import { rm, symlink } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { execa } from 'execa';
import { EVENTS, VOLUMES } from '../../src/api/resources.ts';
import type { Volume } from '../../src/api/volume.ts';
import { sparseVolume } from '../support/cluster.ts';
import { leftovers } from '../support/leftovers.ts';
import { describeAsRoot } from '../support/root.ts';
import { until } from '../support/until.ts';
import { startVolumeScene, TRANSPORTS, type VolumeScene } from '../support/volume-scene.ts';

/** Takes one of the daemon's periods of verification. */
describeAsRoot.each(TRANSPORTS)(
  'a volume over %s whose persistent path leads to another device',
  (transport) => {
    let scene: VolumeScene;

    beforeAll(async () => {
      scene = await startVolumeScene(transport);
    });
    afterAll(async () => {
      expect(await scene?.stop()).toBe(0);
    });

    test('is reported with reason PathAstray before its path is repaired', async () => {
      for (const name of ['astray', 'other'])
        await scene.client.create(VOLUMES, sparseVolume(name, 'n1', '64Mi'));
      const { status } = await scene.settled('astray');
      const other = `/dev/${(await scene.settled('other')).status?.deviceName}`;
      const [path = '', device] = [status?.devicePath, `/dev/${status?.deviceName}`];
      const seen: (Volume['status'] | undefined)[] = [];
      await rm(path);
      await symlink(other, path);
      await until('the path leads to its device again', async () => {
        seen.push((await scene.get('astray')).status);
        return (await execa('realpath', [path])).stdout === device ? true : undefined;
      });
      const readyOf = (each: Volume['status']) =>
        each?.conditions?.find(({ type }) => type === 'Ready');
      const told = seen.find((each) => readyOf(each)?.reason === 'PathAstray');
      expect(readyOf(told)).toMatchObject({
        status: 'False',
        message: expect.stringContaining(
          `${path} leads to ${other}, not to the volume's device ${device}`,
        ),
      });
      await until('the Volume is Ready again', async () =>
        readyOf((await scene.get('astray')).status)?.status === 'True' ? true : undefined,
      );
      const { items } = await scene.client.list(EVENTS);
      expect(JSON.stringify(items)).toContain(`leads to ${other}`);
      for (const name of ['astray', 'other']) {
        await scene.client.delete(VOLUMES, name);
        await scene.gone(name);
      }
      expect(await leftovers({ client: scene.client })).toEqual([]);
    });
  },
);
