import { randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach } from '@jest/globals';
import type { DesiredSparse } from '../../src/storage/types.ts';
import { removeTraces } from './remove-traces.ts';
import { temporaryDirectory } from './temporary-directory.ts';
import { ensureUdev } from './udev.ts';
import { sparseDesired } from './volume-input.ts';

export interface SparseScene {
  /** Directory of the tests of this block. */
  directory: string;
  mountPoint: string;
  /**
   * Volume of 16 MiB, new for each test. Its file is in its own directory, which does not exist
   * yet.
   */
  desired: DesiredSparse;
}

/**
 * Registers the hooks of a block whose tests each create a sparse file with real devices. The
 * remains of each file are removed.
 */
export function sparseScene(name: string, change: Partial<DesiredSparse> = {}): SparseScene {
  const scene: SparseScene = { directory: '', mountPoint: '', desired: sparseDesired };
  let removeDirectory: (() => Promise<void>) | undefined;
  let stopUdev: (() => Promise<void>) | undefined;

  beforeAll(async () => {
    stopUdev = await ensureUdev();
    const folder = await temporaryDirectory(name);
    removeDirectory = folder.remove;
    scene.directory = folder.path;
    scene.mountPoint = join(folder.path, 'mnt');
    await mkdir(scene.mountPoint);
  });
  afterAll(async () => {
    try {
      await removeDirectory?.();
    } finally {
      await stopUdev?.();
    }
  });
  beforeEach(() => {
    const uid = randomUUID();
    const file = join(scene.directory, uid, uid);
    const kubeletRoot = join(scene.directory, 'kubelet');
    scene.desired = { ...sparseDesired, uid, file, sizeBytes: 16n << 20n, kubeletRoot, ...change };
  });
  afterEach(() => removeTraces(scene.desired.uid, scene.desired.file));
  return scene;
}
