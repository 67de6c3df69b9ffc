import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect } from '@jest/globals';
import { createLocalShell } from '../../src/nodes/transport/local-shell.ts';
import { createShellExecutor } from '../../src/nodes/transport/shell-executor.ts';
import type { Observed } from '../../src/storage/registry.ts';
import type { VolumeOperation } from '../../src/storage/types.ts';
import { carryOut } from './carry-out.ts';
import { leftovers } from './leftovers.ts';
import { sparseScene } from './sparse-scene.ts';

/**
 * Sets up a scene with a sparse file on this machine, in an existing directory, and functions that
 * use the file.
 */
export function localSparse(name: string) {
  const scene = sparseScene(name);
  const executor = createShellExecutor(createLocalShell(['n1']));
  beforeEach(() => mkdir(join(scene.directory, scene.desired.uid)));

  const carry = (operation: VolumeOperation, wanted = scene.desired) =>
    carryOut(executor, 'n1', operation, wanted);

  async function prepared(): Promise<string> {
    return deviceOf(await carry('provision'));
  }

  function deviceOf(seen: Observed | string): string {
    if (typeof seen === 'string') throw new Error(seen);
    expect(
      seen.loops.filter(({ backingFile }) => backingFile.includes(scene.desired.uid)),
    ).toHaveLength(1);
    return `/dev/loop${seen.link?.split(':')[1]}`;
  }

  /**
   * Returns the faults of this volume, which must exist with its device (`there`) or be gone
   * completely.
   */
  async function faults(there: boolean): Promise<string[]> {
    const { uid, file } = scene.desired;
    const found = await leftovers({
      expected: there ? [{ uid, file, loop: true }] : [],
      uids: [uid],
      directories: [join(scene.directory, uid)],
    });
    return found.filter((fault) => fault.includes(uid) && !fault.startsWith('jobs '));
  }

  async function expectDestroyed(): Promise<void> {
    await expect(carry('delete')).resolves.toMatchObject({
      file: { type: 'missing' },
      recordFiles: false,
    });
    expect(await faults(false)).toEqual([]);
  }

  return Object.assign(scene, { executor, carry, prepared, deviceOf, faults, expectDestroyed });
}
