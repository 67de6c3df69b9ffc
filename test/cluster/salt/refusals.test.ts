import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { execa } from 'execa';
import type { Executor } from '../../../src/nodes/job.ts';
import { createSaltExecutor } from '../../../src/nodes/transport/salt/executor.ts';
import { systemClock } from '../../../src/workqueue/clock.ts';
import { type Kinds, setUpKinds } from '../../support/kinds.ts';
import { refusalCases } from '../../support/refusal-cases.ts';
import { describeAsRoot } from '../../support/root.ts';
import { type Salt, startSalt } from './salt.ts';

/** The rights on nodes that the daemon's secret gives, and their limits. */
describeAsRoot("limits of the daemon's account on nodes", () => {
  let kinds: Kinds;
  let salt: Salt;
  let executor: Executor;
  let listed: string;

  beforeAll(async () => {
    kinds = await setUpKinds();
    // The node's allowlist contains one disk, but not the other.
    listed = (await kinds.disk()).path;
    await mkdir(join(kinds.folder, 'sparse'), { mode: 0o700 });
    const allowed = `directory ${kinds.folder}/sparse\ndevice ${listed}\n`;
    salt = await startSalt({ minions: ['n1', 'n2'], allowed });
    executor = createSaltExecutor({
      access: salt.access,
      minionOf: (node) => node,
      clock: systemClock,
    });
  });
  afterEach(async () => {
    for (const subject of await executor.subjects('n1')) {
      if (subject.startsWith('refused-')) await executor.purge('n1', subject);
    }
  });
  afterAll(async () => {
    await executor?.close();
    await salt?.stop();
    await kinds?.clean();
    await kinds?.stop();
  });

  test('a minion refuses requests for another node', async () => {
    const astray = createSaltExecutor({
      access: salt.access,
      minionOf: () => 'n2',
      clock: systemClock,
    });
    try {
      await expect(astray.subjects('n1')).rejects.toThrow('this machine is n2, not n1');
    } finally {
      await astray.close();
    }
  });

  refusalCases(() => ({ kinds, executor, listed }));

  test('a node refuses all requests if its allowlist is missing or world-writable', async () => {
    const list = join(salt.folder, 'minion-n2', 'allowed');
    await execa('chmod', ['666', list]);
    await expect(executor.subjects('n2')).rejects.toThrow('users other than root can write to');
    await execa('mv', [list, `${list}.away`]);
    await expect(executor.subjects('n2')).rejects.toThrow('does not exist');
  });
});
