import { execFileSync } from 'node:child_process';
import { describe, expect, test } from '@jest/globals';
import type { Volume, VolumeSpec } from '../../../src/api/volume.ts';
import { createCommand } from '../../../src/cli/ui/create-command.ts';
import { stowage } from '../../support/fake-io.ts';
import { volumeNamed } from '../../support/volumes.ts';

const BASE = { nodeName: 'n1', storageClassName: 'fast' };

const volumeWith = (spec: Partial<VolumeSpec>, labels?: Record<string, string>): Volume => {
  const volume = volumeNamed('data1');
  return {
    ...volume,
    metadata: { name: 'data1', ...(labels && { labels }) },
    spec: { ...BASE, ...spec },
  };
};

/** Returns the arguments of a command line, as a shell reads it. */
const argumentsOf = (line: string): string[] =>
  execFileSync('sh', ['-c', `stowage() { printf '%s\\0' "$@"; }; ${line}`], { encoding: 'utf8' })
    .split('\0')
    .slice(0, -1);

describe('the command line', () => {
  test.each<[string, Volume]>([
    ['a file', volumeWith({ sparseLoopDevice: { size: '10Gi' } })],
    [
      'a file elsewhere',
      volumeWith({ sparseLoopDevice: { size: '1', directory: "/srv/it's", requireMount: true } }),
    ],
    ['a device', volumeWith({ rawBlockDevice: { devicePath: '/dev/sdb' }, overwrite: 'ext4:U' })],
    [
      'a logical volume',
      volumeWith({ lvmLogicalVolume: { vgName: 'vg0', size: '1Gi', thinPool: 'pool' } }),
    ],
    [
      'all other fields',
      volumeWith(
        {
          sparseLoopDevice: { size: '1Gi' },
          mode: 'Block',
          onDelete: 'Wipe',
          attachPolicy: 'OnDemand',
          template: { metadata: { labels: { app: 'db', 'a.example/b': 'c' } } },
        },
        { app: 'db', 'a.example/b': 'c' },
      ),
    ],
    ['a hostile path', volumeWith({ rawBlockDevice: { devicePath: '/dev/$(id);`id` -x "y"' } })],
  ])('creates %s again', async (_what, volume) => {
    const line = createCommand(volume, {}) ?? '';
    expect(line).toMatch(/^stowage create volume data1 /);
    const words = argumentsOf(line);
    const { out, code } = await stowage([...words, '--dry-run=client', '-o', 'json']);
    expect(code).toBe(0);
    const { metadata, spec } = JSON.parse(out) as Volume;
    expect({ labels: metadata.labels, spec }).toEqual({
      labels: volume.metadata.labels,
      spec: volume.spec,
    });
  });

  test('names the cluster of the command', () => {
    const line = createCommand(volumeWith({ sparseLoopDevice: { size: '1Gi' } }), {
      context: 'prod',
      as: 'ann',
    });
    expect(line).toMatch(/ --context prod --as ann$/);
  });

  test.each<[string, Volume]>([
    ['no storage', volumeWith({})],
    [
      'two kinds',
      volumeWith({ sparseLoopDevice: { size: '1' }, rawBlockDevice: { devicePath: '/d' } }),
    ],
    ['a source', volumeWith({ sparseLoopDevice: { size: '1' }, source: { volumeName: 'a' } })],
    ['adoption', volumeWith({ sparseLoopDevice: { size: '1' }, adopt: { uid: 'u' } })],
    ['other nodes', volumeWith({ sparseLoopDevice: { size: '1' }, attachableNodes: ['n1'] })],
    ['labels of the Volume only', volumeWith({ sparseLoopDevice: { size: '1' } }, { app: 'db' })],
    [
      'a template with more than labels',
      volumeWith({ sparseLoopDevice: { size: '1' }, template: { spec: { mountOptions: ['x'] } } }),
    ],
    [
      'a name that is no node',
      volumeWith({ sparseLoopDevice: { size: '1' }, nodeName: 'n{1..4}' }),
    ],
    ['control characters', volumeWith({ rawBlockDevice: { devicePath: '/dev/\u001b[2J' } })],
    ['credentials', volumeWith({ rawBlockDevice: { devicePath: 'https://a:b@c/' } })],
  ])('is missing for %s', (_what, volume) => {
    expect(createCommand(volume, {})).toBeUndefined();
  });
});
