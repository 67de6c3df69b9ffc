import { describe, expect, test } from '@jest/globals';
import {
  DELETED,
  entry,
  held,
  MINUTE,
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
  startOf,
  uncertain,
  type ViewChange,
} from '../../../support/attachment-view.ts';

describe('nextOperation with a node to verify', () => {
  test.each<[string, ViewChange, string | undefined]>([
    ['uncertain', { entries: [entry('n1', uncertain)] }, 'verify n1'],
    ['uncertain and wanted', { ...onN1, entries: [entry('n1', uncertain)] }, 'verify n1'],
    ['uncertain elsewhere', { ...onN2, entries: [entry('n1', uncertain)] }, 'verify n1'],
    [
      'Attaching, and nothing runs',
      { entries: [entry('n1', { state: 'Attaching' })] },
      'verify n1',
    ],
    [
      'Detaching, and nothing runs',
      { entries: [entry('n1', { state: 'Detaching' })] },
      'verify n1',
    ],
    ['Attached before its node booted', { ...held, unverified: ['n1'] }, 'verify n1'],
    [
      'Attached before its node booted, and wanted',
      { ...onN1, entries: [entry('n1', {}, 'a')], unverified: ['n1'] },
      'verify n1',
    ],
    [
      'uncertain, to be verified later: blocks the other nodes',
      { ...onN2, entries: [entry('n1', uncertain)], notBefore: { 'verify n1': NOW + 1 } },
      undefined,
    ],
    [
      'an uncertain reader blocks no reader',
      {
        volume: readers,
        ...onN2,
        entries: [entry('n1', { ...uncertain, ...read })],
        notBefore: { 'verify n1': NOW + 1 },
      },
      'attach n2 ro',
    ],
    [
      'uncertain before unverified and before detach',
      { entries: [entry('n1'), entry('n3', uncertain)], unverified: ['n2'] },
      'verify n3',
    ],
    ['unverified', { unverified: ['n2'] }, 'verify n2'],
    ['unverified, readers', { volume: readers, unverified: ['n2'] }, 'verify n2 ro'],
    ['unverified, and the Volume is gone', { volume: undefined, unverified: ['n2'] }, 'verify n2'],
    ['unverified before detach', { ...held, unverified: ['n2'] }, 'verify n2'],
    ['unverified before attach elsewhere', { ...onN1, unverified: ['n2'] }, 'verify n2'],
    ['unverified and wanted: the attach verifies', { ...onN1, unverified: ['n1'] }, 'attach n1'],
    [
      'two unverified nodes: the attach verifies only its own',
      { ...onBoth, unverified: ['n1', 'n2'] },
      'verify n2',
    ],
    [
      'unverified, and the next to attach',
      { ...onBoth, unverified: ['n2'], notBefore: { 'attach n1': NOW + 1 } },
      'attach n2',
    ],
    ['unverified nodes in their order', { unverified: ['n3', 'n2'] }, 'verify n2'],
    [
      'two unverified nodes of readers: attach to both',
      { volume: readers, ...onBoth, unverified: ['n1', 'n2'] },
      'attach n1 ro',
    ],
    [
      'unverified and wanted, attached elsewhere',
      { ...onBoth, ...held, unverified: ['n2'] },
      'verify n2',
    ],
    [
      'unverified and silent: blocks nothing',
      { ...onN1, unverified: ['n2'], notBefore: { 'verify n2': NOW + 1 } },
      'attach n1',
    ],
    ['paused', { entries: [entry('n1', uncertain)], nodes: { n1: paused() } }, 'verify n1'],
    ['paused, unverified', { ...onN1, unverified: ['n1'], nodes: { n1: paused() } }, 'verify n1'],
    ['NotReady', { entries: [entry('n1', uncertain)], nodes: { n1: notReady(NOW) } }, 'verify n1'],
    ['a node that is gone', { unverified: ['n1'], nodes: { n1: DELETED } }, undefined],
    [
      'unverified, past the timeout',
      { volume: onDemand(), unverified: ['n1'], nodes: { n1: notReady(NOW - 6 * MINUTE) } },
      undefined,
    ],
    [
      'unverified, within the timeout',
      { volume: onDemand(), unverified: ['n1'], nodes: { n1: notReady(NOW - 6 * MINUTE + 1) } },
      'verify n1',
    ],
    [
      'unverified, past the timeout, but shared',
      { unverified: ['n1'], nodes: { n1: notReady(NOW - 60 * MINUTE) } },
      'verify n1',
    ],
    ['a node that is off', { unverified: ['n1'], nodes: { n1: OFF } }, undefined],
  ])('starts a verification or another operation: %s', (_, change, start) => {
    expect(startOf(change)).toBe(start);
  });
});
