import { describe, expect, test } from '@jest/globals';
import type { Attachment, Volume } from '../../../src/api/volume.ts';
import { change } from '../../../src/controllers/attachdetach/actual-state.ts';
import { operatorDetachRequests } from '../../../src/controllers/attachdetach/operator-detach-requests.ts';
import type { Managed, NodeFacts } from '../../../src/controllers/attachdetach/types.ts';
import { knownOf, shared, UP, volumeObject } from '../../support/attachment-view.ts';

const volumeWith = (status: Partial<Volume['status']> = {}) => volumeObject({}, status);
const managedOn = (...nodes: string[]): Managed => shared({ nodes });
const attachedOn = (node: string) =>
  knownOf({
    entries: change([], node, { state: 'Attached', safeToMount: true }, 100),
    written: new Set([node]),
  });

describe('an attachment that is removed from the status', () => {
  const facts = (more: Partial<NodeFacts>) => () => ({ ...UP, ...more });
  const one = managedOn('n1');
  const several = managedOn('n1', 'n2');
  test.each<[string, Managed, Partial<NodeFacts>, boolean]>([
    ['a Ready node', one, {}, false],
    ['a node that is NotReady', one, { ready: false }, true],
    ['a node that is off', one, { ready: false, off: true }, true],
    ['a node that is gone', one, { exists: false, ready: false }, true],
    ['a node of several that is NotReady: it may still write', several, { ready: false }, false],
    ['a node of several that is off', several, { ready: false, off: true }, true],
    ['a node of several that is gone', several, { exists: false, ready: false }, true],
  ])('requests a force-detach or not, by the state of %s', (_, managed, more, isValid) => {
    const known = attachedOn('n1');
    expect(operatorDetachRequests(known, volumeWith(), managed, facts(more))).toEqual(
      isValid ? ['n1'] : [],
    );
  });

  test('requests nothing if the status still shows it, or never did', () => {
    const known = attachedOn('n1');
    const shown: Attachment[] = [
      {
        node: 'n1',
        state: 'Attached',
        safeToMount: true,
        safeToDetach: false,
        pods: [],
        since: '',
      },
    ];
    const gone = facts({ exists: false });
    expect(operatorDetachRequests(known, volumeWith({ attachments: shown }), one, gone)).toEqual(
      [],
    );
    known.written = new Set();
    expect(operatorDetachRequests(known, volumeWith(), one, gone)).toEqual([]);
  });
});
