import { expect, test } from '@jest/globals';
import {
  conditionOf,
  type PodVolume,
} from '../../../src/controllers/attachdetach/pod-condition.ts';
import { entry, NOW } from '../../support/attachment-view.ts';

const type = 'stowage.dev/VolumesAttached';
const at = '2026-03-01T12:00:00Z';
const before = '2026-03-01T11:00:00Z';
const attached: PodVolume = { volume: 'v1', entry: entry('n1') };

test('a pod without managed volumes has no condition', () => {
  expect(conditionOf([], undefined, NOW)).toBeUndefined();
});

test('the condition is True when all volumes are attached', () => {
  expect(conditionOf([attached, { ...attached, volume: 'v2' }], undefined, NOW)).toEqual({
    type,
    status: 'True',
    reason: 'VolumesAttached',
    message: '',
    lastTransitionTime: at,
  });
});

test.each<[string, PodVolume, string]>([
  ['attached to no node', { volume: 'v1', entry: undefined }, 'not attached yet'],
  [
    'blocked',
    { volume: 'v1', entry: undefined, blocked: 'Multi-Attach error' },
    'Multi-Attach error',
  ],
  ['attached, and blocked', { ...attached, blocked: 'Multi-Attach error' }, 'Multi-Attach error'],
  [
    'without its link',
    { volume: 'v1', entry: entry('n1', { safeToMount: false }) },
    'attached to node n1, but its persistent path does not exist yet',
  ],
  [
    'being attached',
    { volume: 'v1', entry: entry('n1', { state: 'Attaching', message: 'losetup: busy' }) },
    'attaching to node n1: losetup: busy',
  ],
  [
    'being detached',
    { volume: 'v1', entry: entry('n1', { state: 'Detaching' }) },
    'detaching from node n1, then attaching again',
  ],
  [
    'uncertain',
    { volume: 'v1', entry: entry('n1', { state: 'Uncertain', safeToMount: true }) },
    'attachment to node n1 is uncertain; verifying',
  ],
])('the condition is False and reports why a volume is not attached: %s', (_, volume, why) => {
  expect(conditionOf([{ ...attached, volume: 'v0' }, volume], undefined, NOW)).toEqual({
    type,
    status: 'False',
    reason: 'VolumesNotAttached',
    message: `v1: ${why}`,
    lastTransitionTime: at,
  });
});

test('the message lists waiting volumes in order, and at most ten', () => {
  const missing = (volume: string): PodVolume => ({ volume, entry: undefined });
  const two = conditionOf([missing('v2'), missing('v1')], undefined, NOW);
  expect(two?.message).toBe('v1: not attached yet; v2: not attached yet');
  const many = Array.from({ length: 13 }, (_, at) => missing(`v${at}`));
  expect(conditionOf(many, undefined, NOW)?.message).toMatch(/; and 3 more$/);
});

test('an unchanged condition is returned as the same object', () => {
  const old = {
    type,
    status: 'True',
    reason: 'VolumesAttached',
    lastTransitionTime: before,
    probe: 1,
  };
  expect(conditionOf([attached], old, NOW)).toBe(old);
});

test.each([
  ['True', 'Other', before],
  ['False', 'VolumesNotAttached', at],
])('the transition time changes with the status: from %s', (status, reason, lastTransitionTime) => {
  const old = { type, status, reason, message: '', lastTransitionTime: before };
  expect(conditionOf([attached], old, NOW)).toMatchObject({ status: 'True', lastTransitionTime });
});

test.each<[string, PodVolume, boolean]>([
  [
    'while a volume is uncertain',
    { volume: 'v2', entry: entry('n1', { state: 'Uncertain' }) },
    true,
  ],
  ['not if a volume is attached to no node', { volume: 'v2', entry: undefined }, false],
  ['not without its link', { volume: 'v2', entry: entry('n1', { safeToMount: false }) }, false],
])('a condition that is True stays True: %s', (_, volume, stays) => {
  const old = { type, status: 'True', reason: 'VolumesAttached', lastTransitionTime: before };
  const now = conditionOf([attached, volume], old, NOW);
  expect(now === old).toBe(stays);
  expect(now?.status).toBe(stays ? 'True' : 'False');
});
