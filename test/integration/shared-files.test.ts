import { readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from '@jest/globals';
import { execa } from 'execa';
import { createLocalShell } from '../../src/nodes/transport/local-shell.ts';
import { createShellExecutor } from '../../src/nodes/transport/shell-executor.ts';
import { freeLoopNumber } from '../../src/storage/loops.ts';
import { plan } from '../../src/storage/plan.ts';
import type { ObservedSparse, VolumeOperation } from '../../src/storage/types.ts';
import { observe, runSteps } from '../support/carry-out.ts';
import { NFS } from '../support/fake-shared.ts';
import { describeAsRoot } from '../support/root.ts';
import { sparseScene } from '../support/sparse-scene.ts';

describeAsRoot('a file that two nodes share, with real loop devices', () => {
  const executor = createShellExecutor(createLocalShell(['n1', 'n2']));
  const scene = sparseScene('shared-files', { onDemand: true, shared: true });
  let attempts = 0;

  /**
   * Returns the observation, but on a mount that nodes can share: the actual directory is on a
   * local mount.
   */
  async function seen(node: string): Promise<ObservedSparse> {
    const observed = await observe(executor, node, scene.desired);
    if (observed.type !== 'sparse' || observed.shared === undefined)
      throw new Error('not looked at');
    return { ...observed, shared: { ...observed.shared, mount: NFS } };
  }

  /**
   * Runs an operation until no step remains, or until a refusal. Retries if another process of this
   * kernel takes the loop device's number first.
   */
  async function carry(
    node: string,
    operation: VolumeOperation,
    change = (found: ObservedSparse) => found,
  ) {
    for (let round = 0; round < 30; round++) {
      const observed = change(await seen(node));
      const owner = { node, token: `t${attempts++}` };
      const made = plan(
        operation,
        { ...scene.desired, owner },
        observed,
        freeLoopNumber(observed.loops, new Set()),
      );
      if ('refusal' in made) return made.refusal;
      if (made.steps.length === 0) return observed;
      const { state } = await runSteps(executor, node, scene.desired, made.steps);
      expect(['succeeded', 'raced']).toContain(state);
    }
    throw new Error(`${operation} does not end`);
  }

  async function withMount(act: (path: string) => Promise<void>): Promise<void> {
    const path = scene.mountPoint;
    const [loop] = (
      await execa('losetup', ['-n', '-O', 'NAME', '-j', scene.desired.file])
    ).stdout.split('\n');
    await execa('mount', [loop ?? '', path]);
    try {
      await act(path);
    } finally {
      await execa('umount', [path]);
    }
  }

  test('is attached on one node at a time, keeps its data, and is fully removed', async () => {
    // The last owner record counts. The next attempt removes earlier records.
    const last = (found: ObservedSparse | string) =>
      typeof found === 'string' ? found : found.shared?.owners.at(-1)?.state;
    expect(last(await carry('n1', 'provision'))).toMatchObject({ is: 'free' });
    scene.desired = { ...scene.desired, recorded: true };
    expect(await carry('n1', 'attach')).toMatchObject({ link: expect.stringMatching(/^7:/) });
    await withMount((path) => writeFile(join(path, 'data'), 'kept'));
    // The second node does not see the loop devices of the first. Both nodes are this machine.
    const elsewhere = (found: ObservedSparse) => ({ ...found, loops: [] });
    expect(await carry('n2', 'attach', elsewhere)).toMatch(/ is held by node n1 since \d{4}-/);
    expect(await carry('n2', 'delete', elsewhere)).toMatch(/ is held by node n1 since /);
    await carry('n1', 'detach');
    expect(last(await carry('n2', 'attach'))).toMatchObject({ is: 'held', by: { node: 'n2' } });
    await withMount(async (path) =>
      expect(await readFile(join(path, 'data'), 'utf8')).toBe('kept'),
    );
    await carry('n2', 'detach');
    await carry('n2', 'delete');
    expect(await readdir(dirname(scene.desired.file))).toEqual([]);
  });

  test('is refused in a directory that is not on an NFS 4 mount', async () => {
    const observed = await observe(executor, 'n1', scene.desired);
    expect(
      plan('provision', { ...scene.desired, owner: { node: 'n1', token: 't' } }, observed, 0),
    ).toMatchObject({
      refusal: expect.stringContaining('it must be on an NFS 4 mount'),
    });
  });
});
