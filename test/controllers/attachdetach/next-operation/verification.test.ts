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
      'uncertain, looked at again later: it keeps the others back',
      { ...onN2, entries: [entry('n1', uncertain)], notBefore: { 'verify n1': NOW + 1 } },
      undefined,
    ],
    [
      'uncertain of a reader keeps no reader back',
      {
        volume: readers,
        ...onN2,
        entries: [entry('n1', { ...uncertain, ...read })],
        notBefore: { 'verify n1': NOW + 1 },
      },
      'attach n2 ro',
    ],
    [
      'uncertain comes before unseen and before detach',
      { entries: [entry('n1'), entry('n3', uncertain)], unverified: ['n2'] },
      'verify n3',
    ],
    ['unseen', { unverified: ['n2'] }, 'verify n2'],
    ['unseen of readers', { volume: readers, unverified: ['n2'] }, 'verify n2 ro'],
    ['unseen of a Volume that is gone', { volume: undefined, unverified: ['n2'] }, 'verify n2'],
    ['unseen comes before detach', { ...held, unverified: ['n2'] }, 'verify n2'],
    ['unseen comes before attach elsewhere', { ...onN1, unverified: ['n2'] }, 'verify n2'],
    ['an attach looks itself', { ...onN1, unverified: ['n1'] }, 'attach n1'],
    [
      'only where it goes: the other is looked at',
      { ...onBoth, unverified: ['n1', 'n2'] },
      'verify n2',
    ],
    [
      'only where it goes, the first node being tried again later',
      { ...onBoth, unverified: ['n2'], notBefore: { 'attach n1': NOW + 1 } },
      'attach n2',
    ],
    ['unseen nodes in their order', { unverified: ['n3', 'n2'] }, 'verify n2'],
    [
      'readers go to both',
      { volume: readers, ...onBoth, unverified: ['n1', 'n2'] },
      'attach n1 ro',
    ],
    [
      'unseen and wanted, and not to be attached there',
      { ...onBoth, ...held, unverified: ['n2'] },
      'verify n2',
    ],
    [
      'unseen that did not answer keeps nothing back',
      { ...onN1, unverified: ['n2'], notBefore: { 'verify n2': NOW + 1 } },
      'attach n1',
    ],
    ['paused', { entries: [entry('n1', uncertain)], nodes: { n1: paused() } }, 'verify n1'],
    ['paused and unseen', { ...onN1, unverified: ['n1'], nodes: { n1: paused() } }, 'verify n1'],
    ['NotReady', { entries: [entry('n1', uncertain)], nodes: { n1: notReady(NOW) } }, 'verify n1'],
    ['a node that is gone', { unverified: ['n1'], nodes: { n1: DELETED } }, undefined],
    [
      'unseen, and not waited for any more',
      { volume: onDemand(), unverified: ['n1'], nodes: { n1: notReady(NOW - 6 * MINUTE) } },
      undefined,
    ],
    [
      'unseen, and waited for',
      { volume: onDemand(), unverified: ['n1'], nodes: { n1: notReady(NOW - 6 * MINUTE + 1) } },
      'verify n1',
    ],
    [
      'unseen, and it may still write',
      { unverified: ['n1'], nodes: { n1: notReady(NOW - 60 * MINUTE) } },
      'verify n1',
    ],
    ['a node that is off', { unverified: ['n1'], nodes: { n1: OFF } }, undefined],
  ])('starts a verification or another operation: %s', (_, change, start) => {
    expect(startOf(change)).toBe(start);
  });
});
