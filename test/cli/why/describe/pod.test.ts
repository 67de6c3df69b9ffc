import { expect, test } from '@jest/globals';
import type { AnyEvent } from '../../../../src/api/core.ts';
import { DRIVER } from '../../../../src/api/names.ts';
import { ago, attachmentOn, nodeNamed } from '../../../support/cluster-objects.ts';
import { stowage, type World } from '../../../support/fake-io.ts';
import { expectPrintable } from '../../../support/printable-text.ts';
import { refusal } from '../../../support/refusals.ts';
import { classNamed, volumeNamed } from '../../../support/volumes.ts';
import {
  backed,
  bound,
  claim,
  condition,
  merge,
  type Objects,
  pod,
  shared,
  unscheduled,
  volume,
} from '../pod-objects.ts';

const event = (uid: string, message: string): AnyEvent => ({
  apiVersion: 'v1',
  kind: 'Event',
  metadata: { name: 'e', namespace: 'db' },
  involvedObject: { kind: 'Pod', name: 'db-0', uid },
  ...{ type: 'Warning', reason: 'FailedAttachVolume', message },
  ...{ lastTimestamp: ago(30), source: { component: 'stowage' } },
});
/** Pod db/db-0 on n1, which waits for data1, attached to n2. */
const WAITING = merge(
  pod({ status: condition('data1: not attached yet') }),
  backed(volume([attachmentOn('n2')], { spec: shared })),
  {
    'nodes/n1': nodeNamed('n1', { ready: 'True' }),
    'nodes/n2': nodeNamed('n2', { ready: 'True' }),
    'events/1': event('uid-pod', 'Multi-Attach error'),
    'events/2': event('uid-earlier', 'of an earlier pod'),
  },
);
const described = (objects: Objects, world: World = {}) =>
  stowage(['describe', 'pod', 'db/db-0'], { objects, ...world });

test('describe pod prints all fields of a waiting pod', async () => {
  const { code, out, err } = await described(WAITING);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(out).toBe(
    `Name:        db-0
Namespace:   db
Created:     2029-12-31T23:55:00.000Z (5m ago)
Phase:       Pending
Node:        n1
Blocked by:  MultiAttach: Volume data1 cannot be attached to node n1: it is Attached on node n2; it can be on one node at a time
Volumes:
  CLAIM    STATUS   VOLUME   PHASE       ATTACHMENTS
  data-0   Bound    data1    Available   Attached on n2
Conditions:
  TYPE                          STATUS   REASON   SINCE   MESSAGE
  stowage.dev/VolumesAttached   False    <none>   30s     data1: not attached yet
Events:
  TYPE      REASON               AGE   FROM      MESSAGE
  Warning   FailedAttachVolume   30s   stowage   Multi-Attach error
`,
  );
});

test('describe pod shows that a running pod is not blocked', async () => {
  const objects = merge(pod(), backed(volume([attachmentOn('n1')])), {
    'nodes/n1': nodeNamed('n1', { ready: 'True' }),
  });
  const { out } = await described(objects);
  expect(out).toMatch(/^Blocked by: +<none>$/m);
  expect(out).toMatch(/^Conditions: +<none>$/m);
  expect(out).toMatch(/data1 +Available +Attached on n1$/m);
});

test('describe pod shows a pod without volumes and node', async () => {
  const { out } = await described(pod({ spec: { nodeName: '', volumes: [] } }));
  expect(out).toMatch(/^Node: +<none>$/m);
  expect(out).toMatch(/^Volumes: +<none>$/m);
});

test('describe pod shows a missing claim', async () => {
  const { out } = await described(pod());
  expect(out).toMatch(/^ {2}data-0 +missing +<none> +<none> +<none>$/m);
  expect(out).toMatch(/^Blocked by: +ClaimMissing: /m);
});

test('describe pod shows the Volume that is created for an unbound claim', async () => {
  const { out } = await described(
    merge(unscheduled(), claim(), {
      'storageclasses/fast': classNamed('fast', { provisioner: DRIVER }),
      'volumes/pvc-uid-claim': volumeNamed('pvc-uid-claim', { phase: 'Pending' }),
    }),
  );
  expect(out).toMatch(/^ {2}data-0 +Pending +pvc-uid-claim +Pending +<none>$/m);
});

test('describe pod shows a pod that is being deleted', async () => {
  const [[key, it] = ['', undefined]] = Object.entries(pod());
  const metadata = { name: '', ...it?.metadata, deletionTimestamp: ago(10) };
  const { out } = await described({ [key]: { ...it, metadata } } as Objects);
  expect(out).toMatch(/^Deletion requested: +2029-12-31T23:59:50.000Z \(10s ago\)$/m);
  expect(out).toMatch(/^Phase: +Terminating$/m);
});

test.each([
  ['get nodes/n1', undefined],
  ['get persistentvolumeclaims/data-0', / {2}data-0 +not shown +<none> /],
  ['get volumes/data1', / {2}data-0 +Bound +not shown +not shown +not shown/],
])('describe pod prints a note if %s is refused', async (request, shown) => {
  const { code, out, err } = await described(WAITING, {
    failures: { [request]: refusal(403, `${request} is forbidden`) },
  });
  expect({ code, err }).toEqual({ code: 0, err: `note: not checked: ${request} is forbidden\n` });
  if (shown !== undefined) expect(out).toMatch(shown);
});

test('describe pod shows that events may not be read', async () => {
  const { code, out } = await described(merge(pod(), bound), {
    failures: { 'list events/involvedObject.name=db-0': refusal(403, 'no events') },
  });
  expect(code).toBe(0);
  expect(out).toMatch(/^Events: +not shown: no events$/m);
});

test('describe pod prints each of several pods, and fails for a missing one', async () => {
  const argv = ['describe', 'pods', '-n', 'db', 'db-0', 'x', 'db-0', 'db/db-0'];
  const { code, out, err } = await stowage(argv, { objects: WAITING });
  expect(code).toBe(7);
  expect(err).toBe('error: pods/x not found\nerror: 1 of 3 failed\n');
  expect(out.match(/^(Name: .*|)$/gm)).toEqual(['Name:        db-0', '', 'Name:        db-0', '']);
});

test('describe pod escapes control characters of the pod', async () => {
  const evil = '\u001b]0;owned\u0007\u009b2J\u202eName: forged';
  const { out } = await described(
    merge(WAITING, pod({ status: condition(`a${evil}`) }), {
      'events/1': event('uid-pod', `b${evil}`),
      ...backed(volume([attachmentOn('n2', { node: `c${evil}` })], { spec: shared })),
    }),
  );
  expect(out.split('owned').length).toBe(5);
  expectPrintable(out);
});
