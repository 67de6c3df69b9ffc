import type { VolumeStatus } from '../../../../src/api/volume.ts';
import { NodeError } from '../../../../src/nodes/errors.ts';
import { nodeNamed } from '../../../support/cluster-objects.ts';
import {
  type FakeNodeAnswers,
  fakeExecutor,
  missing,
  result,
} from '../../../support/fake-executor.ts';
import { stowage } from '../../../support/fake-io.ts';
import { volumeNamed } from '../../../support/volumes.ts';

/** Nodes of a cluster, their responses, and the command that lists them. */

export const DIRECTORY = '/var/lib/metalk8s/storage/sparse';
export const GIB = 1024 ** 3;

/**
 * Returns a node with that much free space, in blocks of 4096 bytes. `there`: path of the deepest
 * existing directory. `allocated`: bytes of files, by name.
 */
export const withFree = (
  bytes: number,
  there = DIRECTORY,
  allocated: Record<string, number> = {},
): FakeNodeAnswers => ({
  probes: {
    ...Object.fromEntries(
      [DIRECTORY, '/var/lib/metalk8s/storage', '/var/lib/metalk8s', '/var/lib', '/var'].map(
        (path) => [
          `free ${path}`,
          there.startsWith(path) ? result(0, `${bytes / 4096}|4096\n`) : missing,
        ],
      ),
    ),
    mounts: result(0, '24 1 254:0 / / rw - ext4 /dev/vda rw'),
    'block devices': result(0, '{"blockdevices": []}'),
    [`files ${DIRECTORY}`]: result(
      0,
      Object.entries(allocated)
        .map(([name, size]) => `${size / 512}|${name}\n`)
        .join(''),
    ),
  },
});
const volumeOn = (name: string, nodeName: string, status?: VolumeStatus) => {
  const volume = volumeNamed(name, status);
  return { ...volume, spec: { ...volume.spec, nodeName } };
};

export const objects = {
  'nodes/n2': nodeNamed('n2', {
    annotations: { 'stowage.dev/paused': 'true', 'stowage.dev/address': '10.0.0.2' },
  }),
  'nodes/n1': nodeNamed('n1'),
  'volumes/a': volumeOn('a', 'n1', { phase: 'Failed' }),
  'volumes/b': volumeOn('b', 'n1'),
  // Its node no longer belongs to the cluster.
  'volumes/c': volumeOn('c', 'gone'),
  'volumes/moved': volumeOn('moved', 'n1', { prepared: { node: 'n2', paths: [], identity: '' } }),
};
export const away = new NodeError('unreachable', 'gone', 'node gone: no route to host\u001b');
export const executor = () =>
  fakeExecutor({ n1: withFree(9.96875 * GIB), n2: withFree(300 * GIB, '/var/lib'), gone: away });

export const get = (argv: string[] = [], world: Parameters<typeof stowage>[1] = {}) =>
  stowage(['get', 'nodes', ...argv], { objects, executor: executor(), ...world });
