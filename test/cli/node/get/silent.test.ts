import { describe, expect, test } from '@jest/globals';
import { SignalError } from '../../../../src/cli/lib/signals.ts';
import type { Executor } from '../../../../src/nodes/job.ts';
import { nodeNamed } from '../../../support/cluster-objects.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { fakeExecutor } from '../../../support/fake-executor.ts';
import { GIB, get, withFree } from './cluster-nodes.ts';

describe('nodes that do not answer', () => {
  /** Creates an executor for n0, n1, … that responds after each one's delay in ms, or never. */
  function slow(delays: (number | undefined)[], clock: FakeClock): Executor {
    return {
      ...fakeExecutor({}),
      async observe(name, probes) {
        const delay = delays[Number(name.slice(1))];
        if (delay === undefined) return new Promise(() => {});
        await clock.sleep(delay);
        return fakeExecutor({ [name]: withFree(GIB) }).observe(name, probes);
      },
    };
  }
  const nodes = (count: number) =>
    Object.fromEntries(
      Array.from({ length: count }, (_, index) => [`nodes/n${index}`, nodeNamed(`n${index}`)]),
    );

  test('are probed concurrently, for 5 s at most', async () => {
    const clock = new FakeClock();
    const delays = [100, undefined, undefined, 4000, 6000];
    const running = get(['-o', 'json'], {
      objects: nodes(5),
      clock,
      executor: slow(delays, clock),
    });
    let ended = false;
    void running.then(() => {
      ended = true;
    });
    await clock.advance(4999);
    expect(ended).toBe(false);
    await clock.advance(1);
    const { code, out } = await running;
    expect(code).toBe(0);
    const { items } = JSON.parse(out);
    expect(items.map(({ reachable }: { reachable: boolean }) => reachable)).toEqual(
      delays.map((delay) => (delay ?? 5000) < 5000),
    );
    expect(items[1].message).toBe('no answer within 5 s');
  });

  test('are probed for as long as --timeout allows', async () => {
    const clock = new FakeClock();
    const running = get(['--timeout', '1s', '-o', 'json'], {
      objects: nodes(2),
      clock,
      executor: slow([100, undefined], clock),
    });
    await clock.advance(1000);
    expect(JSON.parse((await running).out).items[1].message).toBe('no answer within 1 s');
  });

  test('are canceled by a signal', async () => {
    const clock = new FakeClock();
    const aborter = new AbortController();
    const running = get([], {
      objects: nodes(1),
      clock,
      executor: slow([undefined], clock),
      signal: aborter.signal,
    });
    await clock.advance(100);
    aborter.abort(new SignalError('SIGINT'));
    expect(await running).toMatchObject({ code: 130, out: '' });
  });
});
