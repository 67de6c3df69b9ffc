import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { execa } from 'execa';
import type { PersistentVolume } from '../../src/api/core.ts';
import { PERSISTENT_VOLUMES, VOLUMES } from '../../src/api/resources.ts';
import type { Volume } from '../../src/api/volume.ts';
import { sparseVolume, startCluster, type TestCluster } from '../support/cluster.ts';
import { describeAsRoot } from '../support/root.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { ensureUdev } from '../support/udev.ts';
import { until } from '../support/until.ts';
import { onNode } from '../support/volumes.ts';

/** Last version without reasons beside its messages. */
const PREVIOUS = '535f9e2';

const THIS = 'bin/stowage';

/**
 * Each version explains the statuses of the other version's daemon: nothing breaks, and no cause is
 * wrong.
 */
describeAsRoot('why beside a daemon of another version', () => {
  let stopUdev: () => Promise<void>;
  let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
  let previous = '';

  beforeAll(async () => {
    previous = `${(await execa('node', ['scripts/build-previous.mjs', PREVIOUS])).stdout}/bin/stowage`;
    stopUdev = await ensureUdev();
    folder = await temporaryDirectory('why-versions');
  }, 1_800_000);
  afterAll(async () => {
    await folder?.remove();
    await stopUdev?.();
  });

  const create = async ({ client }: TestCluster, name: string, storageClassName = 'local') => {
    const volume = sparseVolume(name, 'n1', '10Mi');
    const sparseLoopDevice = { size: '10Mi', directory: folder.path };
    await client.create(VOLUMES, {
      ...volume,
      spec: { ...volume.spec, storageClassName, sparseLoopDevice },
    });
  };

  const inPhase = ({ client }: TestCluster, name: string, phase: string) =>
    until(`${name} ${phase}`, async () => {
      const volume = await client.get<Volume>(VOLUMES, name);
      return volume.status?.phase === phase ? volume : undefined;
    });

  /**
   * Returns the program's causes for Volumes that the daemon could not provision, or that do not
   * exist.
   */
  async function causesOf(daemon: string, program: string): Promise<Record<string, string>> {
    const cluster = await startCluster({ nodes: ['n1'] });
    const env = { KUBECONFIG: cluster.kubeconfig };
    const flags = ['--transport', 'local', '--local-node', 'n1'];
    const watch = execa(daemon, ['watch', ...flags], { env, reject: false });
    try {
      const taken: PersistentVolume = {
        apiVersion: 'v1',
        kind: 'PersistentVolume',
        metadata: { name: 'taken' },
        spec: {
          capacity: { storage: '1Gi' },
          accessModes: ['ReadWriteOnce'],
          local: { path: '/srv' },
          nodeAffinity: onNode('n1'),
        },
      };
      await cluster.client.create(PERSISTENT_VOLUMES, taken);
      await create(cluster, 'taken');
      await create(cluster, 'classless', 'none');
      await create(cluster, 'gone');
      await create(cluster, 'fine');
      const { metadata } = await inPhase(cluster, 'gone', 'Available');
      const { stdout } = await execa('losetup', [
        '-n',
        '-O',
        'NAME',
        '-j',
        join(folder.path, metadata.uid ?? ''),
      ]);
      await execa('losetup', ['-d', stdout.trim()]);
      await rm(join(folder.path, metadata.uid ?? ''));
      for (const name of ['taken', 'classless', 'gone']) await inPhase(cluster, name, 'Failed');
      await inPhase(cluster, 'fine', 'Available');
      const causes: Record<string, string> = {};
      for (const name of ['taken', 'classless', 'gone', 'fine']) {
        const argv = ['why', 'volume', name, '-o', 'json'];
        const { cause, holdup, nothing } = JSON.parse((await execa(program, argv, { env })).stdout);
        expect(holdup ?? nothing).toEqual(expect.any(String));
        causes[name] = cause ?? 'nothing';
      }
      for (const name of ['taken', 'classless', 'fine']) {
        const argv = ['delete', 'volume', name, '--wait', '--timeout', '120s'];
        await execa(program, argv, { env });
      }
      return causes;
    } finally {
      watch.kill('SIGTERM');
      await watch;
      await cluster.stop();
    }
  }

  test('reports UnknownReason for an earlier daemon, whose failures have no reason', async () => {
    expect(await causesOf(previous, THIS)).toEqual({
      taken: 'UnknownReason',
      classless: 'StorageClassMissing',
      gone: 'UnknownReason',
      fine: 'nothing',
    });
  });

  test('an earlier command reads the messages of this daemon', async () => {
    expect(await causesOf(THIS, previous)).toEqual({
      taken: 'NameTaken',
      classless: 'StorageClassMissing',
      gone: 'DeviceMissing',
      fine: 'nothing',
    });
  });
});
