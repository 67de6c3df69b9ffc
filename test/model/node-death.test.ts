import { describe, expect, test } from '@jest/globals';
import type { KubeNode } from '../../src/api/core.ts';
import { OUT_OF_SERVICE_TAINT } from '../../src/api/names.ts';
import {
  type DeathRule,
  deathDeadline,
  judgeNode,
  type NodeDeath,
  nodeDeath,
  nodeSigns,
} from '../../src/model/node-death.ts';

const NOW = Date.parse('2026-01-01T01:00:00Z');
const MINUTE = 60_000;
const taint = { key: OUT_OF_SERVICE_TAINT, effect: 'NoExecute' };

const node = (status: 'True' | 'False', notReadyForMs?: number, tainted = false): KubeNode => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'n1' },
  spec: { ...(tainted && { taints: [taint] }) },
  status: {
    conditions: [
      {
        type: 'Ready',
        status,
        ...(notReadyForMs !== undefined && {
          lastTransitionTime: new Date(NOW - notReadyForMs).toISOString(),
        }),
      },
    ],
  },
});

const alone = { requiresFencing: false, maxWaitMs: 6 * MINUTE };
const shared = { requiresFencing: true, maxWaitMs: 6 * MINUTE };

describe('nodeDeath', () => {
  test.each<[string, KubeNode | undefined, DeathRule, NodeDeath | undefined]>([
    ['Ready', node('True'), alone, undefined],
    ['Ready, with the taint', node('True', undefined, true), alone, undefined],
    ['NotReady, with the taint', node('False', 1000, true), alone, 'out-of-service'],
    ['NotReady, with the taint, shared', node('False', 1000, true), shared, 'out-of-service'],
    ['NotReady for a moment', node('False', 6 * MINUTE - 1), alone, undefined],
    ['NotReady for the whole wait', node('False', 6 * MINUTE), alone, 'timeout'],
    ['NotReady for long, shared', node('False', 600 * MINUTE), shared, undefined],
    ['NotReady since an unknown time', node('False'), alone, undefined],
    ['gone', undefined, alone, 'node-gone'],
    ['gone, shared', undefined, shared, undefined],
  ])('evaluates a node that is %s', (_, of, rule, death) => {
    expect(nodeDeath(nodeSigns(of), rule, NOW)).toBe(death);
  });

  test('an infinite wait has an infinite deadline', () => {
    const signs = nodeSigns(node('False', MINUTE));
    expect(deathDeadline(signs, alone)).toBe(NOW + 5 * MINUTE);
    expect(deathDeadline(signs, { ...alone, maxWaitMs: Infinity })).toBe(Infinity);
  });
});

describe('judgeNode', () => {
  const volume = { spec: { nodeName: 'n1', storageClassName: 'local' } };

  test('a shorter wait than the default counts as the default', () => {
    const judge = (forMs: number) => judgeNode('n1', node('False', 1), volume, forMs, 1);
    expect(judge(6 * MINUTE - 1)).toMatchObject({ alive: expect.stringContaining('NotReady') });
    expect(judge(6 * MINUTE)).toMatchObject({ dead: 'node n1 is NotReady for 6m' });
  });

  test('a wait that is longer than the default counts', () => {
    expect(judgeNode('n1', node('False', 1), volume, 7 * MINUTE, 10 * MINUTE)).toMatchObject({
      alive: 'node n1 is NotReady for 7m',
      hint: expect.stringContaining('Wait until that is 10 minutes'),
    });
  });

  test('an unknown age counts as none, whatever time the Node records', () => {
    const down = node('False', 600 * MINUTE);
    expect(judgeNode('n1', down, volume, undefined, 1)).toMatchObject({
      alive: 'node n1 is NotReady since an unknown time',
    });
  });
});
