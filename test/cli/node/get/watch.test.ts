import { describe, expect, test } from '@jest/globals';
import { SignalError } from '../../../../src/cli/lib/signals.ts';
import { NodeError } from '../../../../src/nodes/errors.ts';
import type { Executor } from '../../../../src/nodes/job.ts';
import { nodeNamed } from '../../../support/cluster-objects.ts';
import { FakeClock, until } from '../../../support/fake-clock.ts';
import { fakeExecutor } from '../../../support/fake-executor.ts';
import type { stowage } from '../../../support/fake-io.ts';
import { refusal } from '../../../support/refusals.ts';
import { away, GIB, get, withFree } from './cluster-nodes.ts';

describe('get nodes --watch', () => {
  /** Creates a node with another free space for each request. `undefined`: no response. */
  const changing = (bytes: (number | undefined)[]) => ({
    ...fakeExecutor({}),
    observe: async (...[name, probes]: Parameters<Executor['observe']>) => {
      const now = bytes.length > 1 ? bytes.shift() : bytes[0];
      if (now === undefined) throw away;
      return fakeExecutor({ [name]: withFree(now) }).observe(name, probes);
    },
  });
  const one = { 'nodes/n1': nodeNamed('n1') };
  const start = (
    argv: string[],
    bytes: (number | undefined)[],
    world: Parameters<typeof stowage>[1] = {},
  ) => {
    const clock = new FakeClock();
    const aborter = new AbortController();
    const executor = changing(bytes);
    const running = get(['-w', ...argv], {
      objects: one,
      clock,
      signal: aborter.signal,
      executor,
      ...world,
    });
    return { clock, running, interrupt: () => aborter.abort(new SignalError('SIGINT')) };
  };
  const looks = async (clock: FakeClock, count: number) => {
    await until(() => clock.sleeping.includes(10_000));
    for (let look = 0; look < count; look++) {
      await clock.advance(10_000);
      await until(() => clock.sleeping.includes(10_000));
    }
  };

  test('prints a line for each change that the table shows', async () => {
    const { clock, running, interrupt } = start(
      [],
      [1.625 * GIB, 1.625 * GIB - 4096, 2 * GIB, undefined, GIB],
    );
    await looks(clock, 4);
    interrupt();
    const { code, out } = await running;
    expect(code).toBe(130);
    expect(out.split('\n').map((line) => line.split(/ {2,}/).slice(2, 4))).toEqual([
      ['REACHABLE', 'FREE'],
      ['yes', '1.6Gi'],
      ['yes', '2Gi'],
      ['no', '<none>'],
      ['yes', '1Gi'],
      [],
    ]);
  });

  test('writes a document for each change, or the name of each new node', async () => {
    const bytes = [GIB, GIB, GIB - 4096];
    const asJson = start(['-o', 'json'], [...bytes]);
    await looks(asJson.clock, 2);
    asJson.interrupt();
    const documents = (await asJson.running).out.trim().split(/\n(?=\{)/);
    expect(documents.map((text) => JSON.parse(text).free.bytes)).toEqual([GIB, GIB - 4096]);
    const names = start(['-o', 'name'], [...bytes]);
    await looks(names.clock, 2);
    names.interrupt();
    expect((await names.running).out).toBe('node/n1\n');
  });

  test('redraws the table in place on a terminal', async () => {
    const { clock, running, interrupt } = start(['--no-headers'], [GIB, 2 * GIB], { tty: true });
    await looks(clock, 1);
    interrupt();
    const [before, after, ...more] = (await running).out.split('\n\u001b[1A\r\u001b[0J');
    expect(before).toMatch(/^n1 .*1Gi/);
    expect(after).toMatch(/^n1 .*2Gi.*\n$/);
    expect(more).toEqual([]);
  });

  test('continues after a failed request, but not after a forbidden one', async () => {
    const failures: Record<string, Error> = {};
    const { clock, running, interrupt } = start([], [GIB, 2 * GIB], { failures });
    await until(() => clock.sleeping.includes(10_000));
    failures['list volumes/*'] = new Error('connection refused');
    await looks(clock, 1);
    delete failures['list volumes/*'];
    await looks(clock, 1);
    interrupt();
    const { err, out } = await running;
    expect(err).toBe('warning: nodes not checked, retrying: connection refused\n');
    expect(out).toMatch(/1Gi.*\n.*2Gi/);

    const stopped = start([], [GIB], { failures });
    await until(() => stopped.clock.sleeping.includes(10_000));
    failures['list volumes/*'] = refusal(403);
    await stopped.clock.advance(10_000);
    expect((await stopped.running).code).toBe(4);
  });

  test('exits with 3 if the named node is not found', async () => {
    const lost = new NodeError('unreachable', 'x', 'node x: unknown host');
    expect(await get(['x', '-w'], { executor: fakeExecutor({ x: lost }) })).toMatchObject({
      code: 3,
      out: '',
    });
  });
});
