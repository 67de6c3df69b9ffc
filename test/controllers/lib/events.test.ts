import { expect, test } from '@jest/globals';
import type { KubeEvent } from '../../../src/api/core.ts';
import { parametersIn } from '../../../src/api/reasons/template.ts';
import {
  entryOf,
  explain,
  REASONS,
  reason,
  reasonOfAnnotations,
} from '../../../src/api/reasons.ts';
import type { EventToSend } from '../../../src/controllers/lib/event.ts';
import { eventKey } from '../../../src/controllers/lib/event-key.ts';
import { eventOnce } from '../../../src/controllers/lib/idempotent-event.ts';
import type { KubeClient } from '../../../src/kube/types.ts';

const event = (more: Partial<EventToSend> = {}): EventToSend => ({
  ...{ type: 'Warning', reason: 'ProvisioningFailed', message: 'x' },
  ...more,
});
const noRoom = (node: string, free: number) =>
  event(explain('NoRoom', { node, free, place: '…', wanted: 9 }));

test.each<[string, EventToSend, EventToSend, boolean]>([
  ['another figure', noRoom('n1', 1), noRoom('n1', 2), true],
  ['another node', noRoom('n1', 1), noRoom('n2', 1), false],
  ['another code', noRoom('n1', 1), event({ detail: reason('NoNode') }), false],
  ['another public reason', event({ reason: 'a' }), event({ reason: 'b' }), false],
  ['another message without a reason', event(), event({ message: 'y' }), false],
  ['another object in about', noRoom('n1', 1), { ...noRoom('n1', 1), about: 'y' }, false],
])('two events are the same if only figures differ: %s', (_, one, other, isSame) => {
  expect(eventKey(one) === eventKey(other)).toBe(isSame);
});

test('each varying parameter of a reason occurs in its message', () => {
  const wrong = Object.keys(REASONS).flatMap((code) => {
    const { message = '', varies = [] } = entryOf({ code, parameters: {} }) ?? {};
    return varies.filter((name) => !parametersIn(message).includes(name));
  });
  expect(wrong).toEqual([]);
});

test('eventOnce annotates the event with its reason', async () => {
  const written: KubeEvent[] = [];
  const client = {
    create: async (_: unknown, object: KubeEvent) => written.push(object),
  } as unknown as KubeClient;
  const once = eventOnce(client, { timeOfDay: () => 0 }, 'host');
  const claim = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'a' } };
  const detail = reason('VolumeFilled', { volume: 'pv' });
  await once(claim, 'Normal', 'PopulatorFinished', 'filled', detail);
  await once(claim, 'Normal', 'PopulatorFinished', 'filled');
  expect(written.map(({ metadata }) => reasonOfAnnotations(metadata.annotations))).toEqual([
    detail,
    undefined,
  ]);
});
