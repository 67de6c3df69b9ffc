import { afterAll, afterEach, beforeAll } from '@jest/globals';
import type { Executor } from '../../../src/nodes/job.ts';
import { createSaltExecutor } from '../../../src/nodes/transport/salt/executor.ts';
import { systemClock } from '../../../src/workqueue/clock.ts';
import { kindCases } from '../../support/kind-cases.ts';
import { type Kinds, setUpKinds } from '../../support/kinds.ts';
import { describeAsRoot } from '../../support/root.ts';
import { allowedFor, type Salt, startSalt } from './salt.ts';

describeAsRoot('every kind of volume over Salt, with the allowlist of its node', () => {
  let kinds: Kinds;
  let salt: Salt;
  let executor: Executor;
  beforeAll(async () => {
    kinds = await setUpKinds();
    salt = await startSalt({ minions: ['n1'], allowed: allowedFor(kinds.folder) });
    executor = createSaltExecutor({
      access: salt.access,
      minionOf: (node) => node,
      clock: systemClock,
    });
  });
  afterEach(() => kinds.clean());
  afterAll(async () => {
    await executor?.close();
    await salt?.stop();
    await kinds?.stop();
  });

  kindCases(
    'salt',
    () => kinds,
    () => executor,
  );
});
