import { describe, expect, test } from '@jest/globals';
import { nextOperation } from '../../../../src/controllers/attachdetach/next-operation.ts';
import {
  alive,
  always,
  DELETED,
  entry,
  held,
  NOW,
  notReady,
  OFF,
  onBoth,
  onDemand,
  onN1,
  onN2,
  paused,
  read,
  readers,
  shared,
  startOf,
  uncertain,
  type ViewChange,
  view,
  wanted,
} from '../../../support/attachment-view.ts';

describe('nextOperation', () => {
  test.each<[string, ViewChange, string | undefined]>([
    ['nothing wanted', {}, undefined],
    ['a pod', onN1, 'attach n1'],
    ['a pod on a reader', { volume: readers, ...onN1 }, 'attach n1 ro'],
    ['Always, without pods', { volume: always(), wanted: [wanted('n1')] }, 'attach n1'],
    ['two nodes: in their order', onBoth, 'attach n1'],
    [
      'two nodes, the first to be retried later',
      { ...onBoth, notBefore: { 'attach n1': NOW + 1 } },
      'attach n2',
    ],
    ['an unverified node, before a pod on another', { ...onN1, unverified: ['n2'] }, 'verify n2'],
    [
      'a silent unverified node, after a pod on another',
      { ...onN1, unverified: ['n2'], notBefore: { 'verify n2': NOW - 1 } },
      'attach n1',
    ],
    [
      'a silent unverified node, and nothing else',
      { ...onN1, ...held, unverified: ['n2'], notBefore: { 'verify n2': NOW - 1 } },
      'verify n2',
    ],
    [
      'an uncertain reader on a silent node, after a reader elsewhere',
      {
        volume: readers,
        ...onN1,
        entries: [entry('n2', { ...read, ...uncertain })],
        notBefore: { 'verify n2': NOW - 1 },
      },
      'attach n1 ro',
    ],
    ['a pod on the attached node', { ...onN1, ...held }, undefined],
    [
      'a pod on the attached node, without the link',
      { ...onN1, entries: [entry('n1', { safeToMount: false })] },
      'attach n1',
    ],
    ['no pod left', { entries: [entry('n1', {}, 'a')] }, 'detach n1'],
    ['no pod left of a reader', { volume: readers, entries: [entry('n1', read)] }, 'detach n1 ro'],
    [
      'an active pod without its claim',
      { entries: [entry('n1', {}, 'a')], isPodActive: alive },
      undefined,
    ],
    ['Always at home', { volume: always(), wanted: [wanted('n1')], ...held }, undefined],
    ['Always at home, deleting', { volume: always({ attachable: false }), ...held }, 'detach n1'],
    [
      'deleting, with a pod',
      { volume: always({ attachable: false }), ...onN1, ...held },
      undefined,
    ],
    ['a Volume that is gone', { volume: undefined, ...held }, 'detach n1'],
    [
      'a Volume that is gone, wanted by policy before',
      { volume: undefined, wanted: [wanted('n1')], ...held },
      'detach n1',
    ],
    [
      'a Volume that is gone, with an active pod',
      { volume: undefined, entries: [entry('n1', {}, 'a')], isPodActive: alive },
      undefined,
    ],
    ['a pod that moved: detach first', { ...onN2, ...held }, 'detach n1'],
    [
      'a pod that moved, detach to be retried later',
      { ...onN2, ...held, notBefore: { 'detach n1': NOW + 1 } },
      undefined,
    ],
    [
      'readers: one more',
      { volume: readers, ...onBoth, entries: [entry('n1', read)] },
      'attach n2 ro',
    ],
    [
      'readers: detach before attach',
      { volume: readers, wanted: [wanted('n2', 'b')], entries: [entry('n1', read)] },
      'detach n1 ro',
    ],
    [
      'readers: a waiting detach blocks no attach',
      {
        volume: readers,
        wanted: [wanted('n2', 'b')],
        entries: [entry('n1', read)],
        notBefore: { 'detach n1': NOW + 1 },
      },
      'attach n2 ro',
    ],
    [
      'readers: not beside a writable attachment',
      { volume: readers, ...onBoth, ...held },
      undefined,
    ],
    [
      'attached to two wanted nodes: detach the later one',
      { ...onBoth, entries: [entry('n1', { since: NOW }), entry('n2', { since: NOW - 1 })] },
      'detach n1',
    ],
    [
      'readers on two nodes stay',
      { volume: readers, ...onBoth, entries: [entry('n1', read), entry('n2', read)] },
      undefined,
    ],
    ['a pod on a node that is not allowed', { volume: onDemand(), ...onN2 }, undefined],
    [
      'attached to a node that is not allowed, with a pod',
      { volume: onDemand(), ...onN2, entries: [entry('n2')] },
      undefined,
    ],
    ['not provisioned', { volume: shared({ attachable: false }), ...onN1 }, undefined],
    ['a node that is gone', { ...onN1, nodes: { n1: DELETED } }, undefined],
    ['a node that is off', { ...onN1, nodes: { n1: OFF } }, undefined],
    ['a node that is NotReady', { ...onN1, nodes: { n1: notReady(NOW) } }, 'attach n1'],
    ['paused', { ...onN1, nodes: { n1: paused() } }, undefined],
    ['paused, to be detached', { ...held, nodes: { n1: paused() } }, undefined],
    [
      'the first node is paused',
      { ...onBoth, nodes: { n1: paused({ kind: 'Node', name: 'n1' }) } },
      'attach n2',
    ],
  ])('starts an operation or none: %s', (_, change, start) => {
    expect(startOf(change)).toBe(start);
  });
});

test.each<[string, ViewChange]>([
  ['a verification', { entries: [entry('n1', uncertain)] }],
  ['a verification of an unverified node', { unverified: ['n2'] }],
  ['a detach', held],
  ['an attach', onN1],
])('%s does not start while another operation runs', (_, change) => {
  const running = { kind: 'detach', node: 'n3', readOnly: false } as const;
  const next = nextOperation(
    view({ ...change, running, notBefore: { 'attach n1': NOW + 1 } }),
    NOW,
  );
  expect([next.start, next.again]).toEqual([undefined, undefined]);
});

test('an unchanged decision returns the same entries', () => {
  const entries = [entry('n1', {}, 'a')];
  expect(nextOperation(view({ ...onN1, entries }), NOW).entries).toBe(entries);
});
