import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach } from '@jest/globals';
import { BACKUPS, type Backup } from '../../src/api/builtins/backup.ts';
import { createSnapshotClass } from './claim-objects.ts';
import { type DeviceClaims, deviceClaims } from './device-claims.ts';
import type { Outcome } from './fake-io.ts';
import { listFiles, makeFiles } from './some-files.ts';

/** Claims on real loop devices whose node takes backups in a directory. */
export interface BackupClaims {
  scene: DeviceClaims;
  /** Returns the path of an archive in the directory of backups. */
  archive(name: string): string;
  read(name: string): Promise<Backup>;
  isGone(name: string): Promise<void>;
  /** Runs `stowage create backup` and waits until the Backup has ended. */
  create(name: string, ...words: string[]): Promise<Outcome>;
  /** Creates the claim prod/data with some files. Returns the list of them. */
  claimWithFiles(): Promise<string>;
  /** Waits until a claim is bound. Returns the list of its files. */
  filesOf(claim: `prod/${string}`): Promise<string>;
}

/** Returns the data source of a claim that is restored from a Backup. */
export const fromBackup = (name: string) => ({ apiGroup: BACKUPS.group, kind: BACKUPS.kind, name });

/**
 * Sets up a new sandbox for each test of a file, like deviceClaims, with the populator of Backups.
 */
export function backupClaims(): BackupClaims {
  const scene: DeviceClaims = deviceClaims({
    sources: (folder) => [
      `backups ${join(folder, 'archives')}`,
      `backup-to ${scene.server.url('/')}`,
      'backup-to http://127.0.0.2/',
      // Only Backups may read a directory of backups, even if another line allows it.
      `path ${join(folder, 'archives')}`,
      `path ${join(folder, 'images')}`,
    ],
  });
  beforeEach(async () => {
    for (const name of ['archives', 'images']) await mkdir(join(scene.folder, name));
    await scene.createFast();
    await createSnapshotClass(scene.cluster.client, 'fast');
    await scene.register('backup', 'Backup');
  });
  afterEach(() => rm('/run/stowage/backups', { recursive: true, force: true }));

  async function filesOf(claim: `prod/${string}`): Promise<string> {
    const files = await listFiles(await scene.mounted(claim));
    await scene.devices.unmount();
    return files;
  }

  return {
    scene,
    archive: (name) => join(scene.folder, 'archives', name),
    read: (name) => scene.cluster.client.get<Backup>(BACKUPS, name, { namespace: 'prod' }),
    isGone: async (name) => {
      await scene.claims.isGone(BACKUPS, `prod/${name}`);
    },
    create: (name, ...words) =>
      scene.cluster.stowage([
        'create',
        'backup',
        `prod/${name}`,
        ...words,
        '--wait',
        '--timeout',
        '120s',
      ]),
    async claimWithFiles() {
      await scene.claims.create('prod/data');
      await makeFiles(await scene.mounted('prod/data'));
      await scene.devices.unmount();
      return filesOf('prod/data');
    },
    filesOf,
  };
}
