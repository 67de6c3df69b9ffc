import { beforeEach, expect, test } from '@jest/globals';
import { NodeError } from '../../src/nodes/errors.ts';
import { limitNodes } from '../../src/nodes/node-limiter.ts';
import type { Shell } from '../../src/nodes/transport/shell.ts';
import { runController } from '../../src/workqueue/controller.ts';
import { createWorkQueue } from '../../src/workqueue/work-queue.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { memoryLogger } from '../support/logger.ts';

let clock: FakeClock;
/** Response time of each node in ms, and its error, if any. */
let nodes: Map<string, { ms: number; code?: NodeError['code'] }>;
let calls: string[];
let atOnce: Map<string, number>;
let most: Map<string, number>;

beforeEach(() => {
  clock = new FakeClock();
  nodes = new Map();
  calls = [];
  atOnce = new Map();
  most = new Map();
});

const fake: Shell = {
  async run(node) {
    calls.push(node);
    for (const name of [node, 'all']) {
      atOnce.set(name, (atOnce.get(name) ?? 0) + 1);
      most.set(name, Math.max(most.get(name) ?? 0, atOnce.get(name) ?? 0));
    }
    const { ms, code } = nodes.get(node) ?? { ms: 0 };
    if (ms > 0) await clock.sleep(ms);
    for (const name of [node, 'all']) atOnce.set(name, (atOnce.get(name) ?? 0) - 1);
    if (code !== undefined) throw new NodeError(code, node, `${code} ${calls.length}`);
    return node;
  },
  close: async () => {},
};

/** Returns the responses so far, in order of arrival. */
function ask(shell: Shell, node: string, times: number): string[] {
  const answers: string[] = [];
  for (let n = 0; n < times; n++) {
    shell.run(node, '', 30_000).then(
      (answer) => answers.push(answer),
      (error: NodeError) => answers.push(error.message),
    );
  }
  return answers;
}

test.each([-7_200_000, 86_400_000])(
  'a node that is back is tried within a minute, with a clock that is set by %i ms',
  async (step) => {
    const shell = limitNodes(fake, clock);
    nodes.set('n1', { ms: 0, code: 'unreachable' });
    const before = ask(shell, 'n1', 1);
    await clock.advance(1);
    expect(before).toEqual(['unreachable 1']);
    clock.set(step);
    const early = ask(shell, 'n1', 1);
    nodes.set('n1', { ms: 0 });
    await clock.advance(60_000);
    // The known error, without an attempt: a step forward ends no backoff.
    expect(early).toEqual(['unreachable 1']);
    const after = ask(shell, 'n1', 1);
    await clock.advance(1);
    expect(after).toEqual(['n1']);
  },
);

/**
 * Sends three requests a second to n1. Returns the seconds with an attempt, which is at most one
 * each.
 */
async function triedAt(shell: Shell, seconds: number, each: (second: number) => void = () => {}) {
  const tried: number[] = [];
  for (let second = 0; second < seconds; second++) {
    each(second);
    const before = calls.length;
    ask(shell, 'n1', 3);
    await clock.advance(0);
    if (calls.length > before) tried.push(second);
    expect(calls.length - before).toBeLessThanOrEqual(1);
    await clock.advance(1000);
  }
  return tried;
}

test('a node has one session until its first response, then up to eight', async () => {
  nodes.set('n1', { ms: 100 });
  const answers = ask(limitNodes(fake, clock), 'n1', 20);
  await clock.advance(99);
  expect(calls).toHaveLength(1);
  await clock.advance(1);
  expect([answers.length, calls.length]).toEqual([1, 9]);
  await clock.advance(1000);
  expect([answers.length, most.get('n1')]).toEqual([20, 8]);
});

test.each(['unreachable', 'refused'] as const)(
  'requests that wait for the first response of a node that is %s fail after one call',
  async (code) => {
    nodes.set('n1', { ms: 10_000, code });
    const answers = ask(limitNodes(fake, clock), 'n1', 50);
    await clock.advance(10_000);
    expect(answers).toEqual(Array.from({ length: 50 }, () => `${code} 1`));
    expect(calls).toHaveLength(1);
  },
);

test('an unreachable node is retried with increasing delay until it responds', async () => {
  nodes.set('n1', { ms: 0, code: 'unreachable' });
  const shell = limitNodes(fake, clock);
  expect(await triedAt(shell, 200)).toEqual([0, 1, 3, 7, 15, 31, 63, 123, 183]);
  nodes.set('n1', { ms: 0 });
  await clock.advance(60_000);
  expect(await shell.run('n1', '', 0)).toBe('n1');
  nodes.set('n1', { ms: 0, code: 'unreachable' });
  ask(shell, 'n1', 1);
  await clock.advance(1000);
  const before = calls.length;
  ask(shell, 'n1', 1);
  await clock.advance(0);
  expect(calls.length).toBe(before + 1);
});

test('a node with another incarnation is tried at once, with a reset backoff', async () => {
  nodes.set('n1', { ms: 0, code: 'unreachable' });
  let life = 'first boot';
  const shell = limitNodes(fake, clock, () => life);
  const tried = await triedAt(shell, 50, (second) => {
    if (second === 40) life = 'second boot';
  });
  expect(tried).toEqual([0, 1, 3, 7, 15, 31, 40, 41, 43, 47]);
});

test('other requests fail at once while an unreachable node is tried again', async () => {
  nodes.set('n1', { ms: 500, code: 'unreachable' });
  const shell = limitNodes(fake, clock);
  ask(shell, 'n1', 1);
  await clock.advance(2000);
  const answers = ask(shell, 'n1', 3);
  await clock.advance(0);
  expect([answers, calls.length]).toEqual([['unreachable 1', 'unreachable 1'], 2]);
});

test('sessions that break together are one failure, and no waiting request is sent', async () => {
  nodes.set('n1', { ms: 0 });
  const shell = limitNodes(fake, clock);
  await shell.run('n1', '', 0);
  nodes.set('n1', { ms: 100, code: 'unreachable' });
  ask(shell, 'n1', 20);
  await clock.advance(100);
  expect(calls).toHaveLength(9);
  await clock.advance(1000);
  ask(shell, 'n1', 1);
  await clock.advance(0);
  expect(calls).toHaveLength(10);
});

test('a hung session does not make its node unreachable while others get responses', async () => {
  nodes.set('n1', { ms: 0 });
  const shell = limitNodes(fake, clock);
  await shell.run('n1', '', 0);
  nodes.set('n1', { ms: 30_000, code: 'unreachable' });
  const hung = ask(shell, 'n1', 1);
  await clock.advance(20_000);
  nodes.set('n1', { ms: 50 });
  ask(shell, 'n1', 1);
  await clock.advance(10_000);
  expect(hung).toEqual([expect.stringMatching(/^unreachable/)]);
  const answers = ask(shell, 'n1', 8);
  await clock.advance(50);
  expect([answers, most.get('n1')]).toEqual([Array(8).fill('n1'), 8]);
});

test('a response that cannot be parsed counts as a response', async () => {
  nodes.set('n1', { ms: 0, code: 'protocol' });
  const shell = limitNodes(fake, clock);
  ask(shell, 'n1', 5);
  await clock.advance(0);
  expect(calls).toHaveLength(5);
});

test('at most 64 requests run at once, not counting those to silent nodes', async () => {
  const shell = limitNodes(fake, clock);
  for (let n = 0; n < 100; n++) {
    nodes.set(`n${n}`, { ms: 60_000 });
    ask(shell, `n${n}`, 1);
  }
  await clock.advance(999);
  expect(most.get('all')).toBe(64);
  await clock.advance(1);
  expect(most.get('all')).toBe(100);
  await clock.advance(60_000);
  // No slot was released twice.
  most.clear();
  for (let n = 0; n < 100; n++) ask(shell, `n${n}`, 1);
  await clock.advance(0);
  expect(most.get('all')).toBe(64);
});

test.each([
  ['refuse connections', { ms: 5, code: 'unreachable' as const }],
  ['drop packets', { ms: 10_000, code: 'unreachable' as const }],
  ['fail after 30 s', { ms: 30_000, code: 'unreachable' as const }],
  ['answer slowly', { ms: 20_000 }],
])('20 nodes with 50 Volumes each that %s do not delay another node', async (_, dead) => {
  const timeOfHealthy = async (deadNodes: number) => {
    clock = new FakeClock();
    nodes.clear();
    nodes.set('healthy', { ms: 50 });
    const shell = limitNodes(fake, clock);
    const logger = memoryLogger();
    const done = new Map<string, number>();
    const queue = createWorkQueue({
      clock,
      random: () => 0,
      groupOf: (key) => key.split('/')[0] ?? '',
      perGroup: 10,
    });
    const start = clock.now();
    const controller = runController({
      queue,
      logger,
      clock,
      async reconcile(key) {
        const node = key.split('/')[0] ?? '';
        for (let roundTrip = 0; roundTrip < 5; roundTrip++) await shell.run(node, '', 30_000);
        done.set(key, clock.now() - start);
        return undefined;
      },
    });
    for (let node = 0; node < deadNodes; node++) {
      nodes.set(`dead${node}`, dead);
      for (let volume = 0; volume < 50; volume++) queue.add(`dead${node}/${volume}`);
    }
    await clock.advance(1000);
    for (let volume = 0; volume < 20; volume++) queue.add(`healthy/${volume}`);
    await clock.advance(15_000);
    const times = [...done].filter(([key]) => key.startsWith('healthy/')).map(([, ms]) => ms);
    const stopped = controller.stop(0);
    await clock.advance(0);
    await stopped;
    return { count: times.length, last: Math.max(...times) };
  };
  const without = await timeOfHealthy(0);
  expect(without.count).toBe(20);
  expect(await timeOfHealthy(20)).toEqual(without);
});

test('20 nodes that fall silent with eight sessions each delay others by about 1 s', async () => {
  const shell = limitNodes(fake, clock);
  const silent = Array.from({ length: 20 }, (_, n) => `silent${n}`);
  for (const node of [...silent, 'healthy']) await shell.run(node, '', 0);
  for (const node of silent) {
    nodes.set(node, { ms: 15_000, code: 'unreachable' });
    ask(shell, node, 8);
  }
  nodes.set('healthy', { ms: 50 });
  const answers = ask(shell, 'healthy', 20);
  await clock.advance(1250);
  expect(answers).toHaveLength(20);
});

test('all sessions of a node count against the limit while it responds', async () => {
  const shell = limitNodes(fake, clock);
  const busy = Array.from({ length: 8 }, (_, n) => `busy${n}`);
  for (const node of [...busy, 'other']) await shell.run(node, '', 0);
  for (const node of busy) nodes.set(node, { ms: 900 });
  for (const node of busy) ask(shell, node, 1);
  await clock.advance(0);
  for (const node of [...busy, 'other']) nodes.set(node, { ms: 60_000 });
  for (const node of busy) ask(shell, node, 8);
  ask(shell, 'other', 8);
  await clock.advance(1899);
  expect(most.get('all')).toBe(64);
  await clock.advance(1);
  expect(most.get('all')).toBe(72);
});
