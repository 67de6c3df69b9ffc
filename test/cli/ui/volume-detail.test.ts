import { expect, test } from '@jest/globals';
import type { AnyEvent } from '../../../src/api/core.ts';
import type { KubeObject } from '../../../src/api/meta.ts';
import { run } from '../../../src/cli/run.ts';
import { createRunCommand } from '../../../src/cli/ui/run-command.ts';
import { readVolumeDetail } from '../../../src/cli/ui/volume-detail.ts';
import { attachmentOn, podNamed } from '../../support/cluster-objects.ts';
import { fakeIo, stowage } from '../../support/fake-io.ts';
import { refusal } from '../../support/refusals.ts';
import { pvOf, volumeNamed } from '../../support/volumes.ts';

const VOLUME = {
  ...volumeNamed('data1', {
    conditions: [
      {
        ...{ type: 'Ready', status: 'True', reason: 'Ready', message: '' },
        lastUpdateTime: '2029-12-31T22:00:00Z',
      },
    ],
    phase: 'Available',
    ...{ job: 'Provision/DONE', attempt: 2 },
    capacity: '1073741824',
    deviceName: 'loop3',
    attachments: [attachmentOn('n1', { device: 'loop3', pods: ['db/db-0'] })],
  }),
};

const event = {
  ...{ apiVersion: 'v1', kind: 'Event', metadata: { name: 'e', namespace: 'default' } },
  involvedObject: { kind: 'Volume', name: 'data1', uid: 'uid-data1' },
  ...{ type: 'Warning', reason: 'Busy', message: 'it is in use', count: 3 },
  firstTimestamp: '2029-12-31T22:30:00Z',
  lastTimestamp: '2029-12-31T23:00:00Z',
  source: { component: 'stowage' },
} satisfies AnyEvent;

const SEEN = { first: '2029-12-31T22:30:00.000Z', last: '2029-12-31T23:00:00.000Z' };

const objects = (): Record<string, KubeObject> => ({
  'volumes/data1': VOLUME,
  'persistentvolumes/data1': pvOf(VOLUME, 'Bound'),
  'persistentvolumeclaims/data-0': {
    ...{ apiVersion: 'v1', kind: 'PersistentVolumeClaim' },
    metadata: { name: 'data-0', namespace: 'db' },
    ...{ spec: {}, status: { phase: 'Bound' } },
  } as KubeObject,
  'pods/db-0': podNamed('db-0', 'db', {
    volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data-0' } }],
  }),
  'events/involvedObject.name=data1': event,
  'events/e': event,
});

async function detailOf(world: Parameters<typeof fakeIo>[0]) {
  const { io, outcome } = fakeIo(world);
  const connection = await io.connect({});
  const command = createRunCommand(run, io, connection, { color: true });
  const detail = await readVolumeDetail('data1', connection.client, command, {}, io.signal);
  return { detail, outcome };
}

test('the detail of a Volume has all that belongs to it, from reads only', async () => {
  const { detail, outcome } = await detailOf({ objects: objects() });
  expect(detail).toMatchObject({
    row: {
      ...{ name: 'data1', claim: 'db/data-0' },
      attachments: [{ node: 'n1', state: 'Attached', device: 'loop3', pods: ['db/db-0'] }],
    },
    job: { name: 'Provision/DONE', attempt: 2, reported: '2029-12-31T22:00:00.000Z' },
    events: { found: expect.arrayContaining([expect.objectContaining(SEEN)]) },
    conditions: [{ type: 'Ready', status: 'True', reason: 'Ready', message: '' }],
    claim: { found: { name: 'db/data-0', phase: 'Bound', pods: { found: ['db-0'] } } },
    why: { found: { nothing: expect.stringContaining('data1'), cause: '' } },
    command: {
      found: 'stowage create volume data1 --node n1 --size 1Gi --storage-class fast',
    },
  });
  expect(Object.fromEntries(detail.fields)).toMatchObject({
    Node: 'n1',
    Type: 'sparse file',
    Capacity: '1Gi',
    Device: '/dev/loop3',
  });
  expect(outcome.requests.filter(({ what }) => !/^(get|list) /.test(what))).toEqual([]);
  expect(outcome.requests.filter(({ what }) => what.includes('secrets'))).toEqual([]);
});

test('the YAML is that of `get -o yaml`', async () => {
  const { detail } = await detailOf({ objects: objects() });
  const { out } = await stowage(['get', 'volume/data1', '-o', 'yaml'], { objects: objects() });
  expect(detail.yaml).toEqual({ found: out });
});

test('a part that may not be read has the reason, and the others are there', async () => {
  const failures = {
    'get persistentvolumes/data1': refusal(403),
    'list events/involvedObject.name=data1': refusal(403),
  };
  const { detail } = await detailOf({ objects: objects(), failures });
  expect(detail.claim).toEqual({ missing: expect.stringMatching(/./) });
  expect(detail.events).toEqual({ missing: expect.stringMatching(/./) });
  expect(detail.row).toMatchObject({ name: 'data1', claim: '' });
});

test('a Volume without a claim has none', async () => {
  const { detail } = await detailOf({ objects: { 'volumes/data1': VOLUME } });
  expect(detail.claim).toEqual({ missing: '' });
  expect(detail.events).toEqual({ found: [] });
});

test('a Volume that does not exist is an error', async () => {
  await expect(detailOf({})).rejects.toMatchObject({ code: 'not-found' });
});
