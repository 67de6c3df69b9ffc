import { describe, expect, test } from '@jest/globals';
import type { Attachment, Volume } from '../../../src/api/volume.ts';
import { change } from '../../../src/controllers/attachdetach/actual-state.ts';
import {
  markUncertain,
  onDeviceMissing,
} from '../../../src/controllers/attachdetach/mark-uncertain.ts';
import type { Managed } from '../../../src/controllers/attachdetach/types.ts';
import type { VolumeState } from '../../../src/controllers/attachdetach/volume-state.ts';
import type { NodeIncarnation } from '../../../src/model/node-incarnation.ts';
import { knownOf, shared, volumeObject } from '../../support/attachment-view.ts';

const volumeWith = (status: Partial<Volume['status']> = {}) => volumeObject({}, status);
const managedOn = (...nodes: string[]): Managed => shared({ nodes });
const knownOn = (...nodes: string[]): VolumeState =>
  knownOf({
    entries: nodes.flatMap((node) =>
      change([], node, { state: 'Attached', safeToMount: true }, 100),
    ),
    written: new Set(nodes),
  });

describe('markUncertain', () => {
  const life =
    (boot: string, ready = true) =>
    (): NodeIncarnation => ({ boot, ready });

  test('marks each node that was never verified, once', () => {
    const known = knownOn();
    markUncertain(known, managedOn('n1', 'n2'), life('a'), 200);
    expect([...known.unverifiedNodes]).toEqual(['n1', 'n2']);
    known.unverifiedNodes.clear();
    markUncertain(known, managedOn('n1', 'n2'), life('a'), 200);
    expect(known.unverifiedNodes.size).toBe(0);
  });

  test('marks no node of a Volume that was never provisioned', () => {
    const known = { ...knownOn(), volume: { ...volumeWith(), status: {} } };
    markUncertain(known, managedOn('n1'), life('a'), 200);
    expect(known.unverifiedNodes.size).toBe(0);
  });

  test('trusts the node on which an Always Volume was just provisioned and measured', () => {
    const always: Managed = { ...managedOn('n1'), policy: 'Always' };
    const unmade: VolumeState = { ...knownOn(), volume: { ...volumeWith(), status: {} } };
    markUncertain(unmade, always, life('a'), 200);
    const measured = { ...unmade, volume: volumeWith({ deviceName: 'loop3' }) };
    markUncertain(measured, always, life('a'), 300);
    expect(measured.unverifiedNodes.size).toBe(0);
    expect(measured.entries).toEqual([
      expect.objectContaining({ node: 'n1', state: 'Attached', safeToMount: true, since: 300 }),
    ]);
    // A Volume that existed when this process started is not trusted.
    const before = { ...knownOn(), volume: volumeWith({ deviceName: 'loop3' }) };
    markUncertain(before, always, life('a'), 300);
    expect(before).toMatchObject({ entries: [], unverifiedNodes: new Set(['n1']) });
  });

  test.each([
    ['has booted', life('a'), life('b'), true],
    ['is back', life('a', false), life('a'), true],
    ['went away', life('a'), life('a', false), false],
    ['is unchanged', life('a'), life('a'), false],
  ])('marks only a rebooted or returned node Uncertain: it %s', (_, before, after, doubted) => {
    const known = knownOn('n1');
    markUncertain(known, managedOn('n1'), before, 200);
    known.unverifiedNodes.clear();
    markUncertain(known, managedOn('n1'), after, 300);
    expect(known.unverifiedNodes.has('n1')).toBe(doubted);
    expect(known.entries[0]).toMatchObject(
      doubted
        ? { state: 'Uncertain', safeToMount: false, since: 300 }
        : { state: 'Attached', since: 100 },
    );
  });
});

describe.each([
  ['its device is missing', 'Attaching'],
  ['its path leads to another device', 'PathAstray'],
])('a Volume that reports that %s', (_, reason) => {
  const missing = (at: string) =>
    volumeWith({ conditions: [{ type: 'Ready', status: 'Unknown', reason, lastUpdateTime: at }] });

  test('makes its attachment Uncertain once per report', () => {
    const known = knownOn('n1');
    onDeviceMissing(known, missing('2026-01-01T00:00:00Z'), 200);
    expect(known.entries[0]?.state).toBe('Uncertain');
    known.entries = change(known.entries, 'n1', { state: 'Attached' }, 300);
    onDeviceMissing(known, missing('2026-01-01T00:00:00Z'), 400);
    expect(known.entries[0]?.state).toBe('Attached');
    onDeviceMissing(known, missing('2026-01-01T00:00:30Z'), 500);
    expect(known.entries[0]?.state).toBe('Uncertain');
  });
});

describe('an OnDemand Volume whose deviceName was removed', () => {
  const shown = (status: Partial<Volume['status']>, resourceVersion = '1'): Volume => {
    const volume = volumeWith({
      attachments: [{ node: 'n1', state: 'Attached', device: 'loop3' } as Attachment],
      ...status,
    });
    const { metadata, spec } = volume;
    return {
      ...volume,
      metadata: { ...metadata, resourceVersion },
      spec: { ...spec, attachPolicy: 'OnDemand' },
    };
  };

  test('makes its attachment Uncertain once per resourceVersion', () => {
    const known = knownOn('n1');
    onDeviceMissing(known, shown({ deviceName: 'loop3' }), 200);
    expect(known.entries[0]?.state).toBe('Attached');
    onDeviceMissing(known, shown({}), 200);
    expect(known.entries[0]).toMatchObject({ state: 'Uncertain', safeToMount: false });
    known.entries = change(known.entries, 'n1', { state: 'Attached' }, 300);
    onDeviceMissing(known, shown({}), 400);
    expect(known.entries[0]?.state).toBe('Attached');
    onDeviceMissing(known, shown({}, '2'), 500);
    expect(known.entries[0]?.state).toBe('Uncertain');
  });

  test.each<[string, Partial<Volume['status']>]>([
    ['is not shown as attached yet', { attachments: [] }],
    ['is Attaching', { attachments: [{ node: 'n1', state: 'Attaching' } as Attachment] }],
    [
      'is attached without a device',
      { attachments: [{ node: 'n1', state: 'Attached' } as Attachment] },
    ],
  ])('keeps its attachment where it %s', (_, status) => {
    const known = knownOn('n1');
    onDeviceMissing(known, shown(status), 200);
    expect(known.entries[0]?.state).toBe('Attached');
  });
});
