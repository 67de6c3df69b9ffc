import { describe, expect, test } from '@jest/globals';
import type { Volume } from '../../src/api/volume.ts';
import type { WatchEvent } from '../../src/kube/types.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { stowage } from '../support/fake-io.ts';
import { ready, volumeNamed } from '../support/volumes.ts';

const CREATE = ['create', 'volume', 'data1', '--node', 'n1', '--size', '1Gi', '--storage-class', 'fast'];
const FULL_NAME = 'volume.storage.metalk8s.scality.com/data1';

test('sends the Volume that the flags describe', async () => {
  const { code, out, err, requests } = await stowage([
    ...CREATE,
    '--directory',
    '/srv',
    '-l',
    'a=1',
    '-l',
    'b=2',
  ]);
  expect({ code, out, err }).toEqual({ code: 0, out: `${FULL_NAME} created\n`, err: '' });
  expect(requests).toMatchObject([{ what: 'create volumes/data1', options: { dryRun: false } }]);
  expect(requests[0]?.object).toEqual({
    apiVersion: 'storage.metalk8s.scality.com/v1alpha1',
    kind: 'Volume',
    metadata: { name: 'data1', labels: { a: '1', b: '2' } },
    spec: {
      nodeName: 'n1',
      storageClassName: 'fast',
      template: { metadata: { labels: { a: '1', b: '2' } } },
      sparseLoopDevice: { size: '1Gi', directory: '/srv' },
    },
  });
});

test('sends nothing that was not asked for', async () => {
  const { requests } = await stowage(CREATE);
  expect(requests[0]?.object).toEqual({
    apiVersion: 'storage.metalk8s.scality.com/v1alpha1',
    kind: 'Volume',
    metadata: { name: 'data1' },
    spec: { nodeName: 'n1', storageClassName: 'fast', sparseLoopDevice: { size: '1Gi' } },
  });
});

describe('--dry-run', () => {
  test('client needs no cluster', async () => {
    const { code, out, connections } = await stowage([...CREATE, '--dry-run=client', '--wait']);
    expect({ code, out, connections }).toEqual({
      code: 0,
      out: `${FULL_NAME} created (dry run)\n`,
      connections: [],
    });
  });

  test('server has the server check it', async () => {
    const { code, out, requests } = await stowage([...CREATE, '--dry-run=server', '--wait']);
    expect({ code, out }).toEqual({ code: 0, out: `${FULL_NAME} created (server dry run)\n` });
    expect(requests).toMatchObject([{ what: 'create volumes/data1', options: { dryRun: true } }]);
  });
});

describe('-o', () => {
  test('name, json and yaml', async () => {
    expect((await stowage([...CREATE, '-o', 'name'])).out).toBe(`${FULL_NAME}\n`);
    expect(JSON.parse((await stowage([...CREATE, '-o', 'json'])).out).metadata.uid).toBe('uid-data1');
    expect((await stowage([...CREATE, '-o', 'yaml'])).out).toContain('\nkind: Volume\n');
  });
});

describe('--wait', () => {
  const modified = (volume: Volume): WatchEvent => ({ type: 'MODIFIED', object: volume });
  const step = (status: Volume['status'] & object) => modified(volumeNamed('data1', status));
  const pending = step({
    phase: 'Pending',
    job: 'PrepareVolume/1',
    ...ready('Unknown', 'Pending', 'mkfs.ext4'),
  });
  const done = step({ phase: 'Available', job: 'PrepareVolume/DONE', ...ready('True', 'Available') });

  test('shows the way on stderr until it is Ready, and then the result', async () => {
    const { code, out, err } = await stowage([...CREATE, '--wait', '-o', 'json'], {
      events: [pending, pending, done],
    });
    expect(code).toBe(0);
    expect(JSON.parse(out).status.phase).toBe('Available');
    expect(err.split('\n')).toEqual([
      `${FULL_NAME} created`,
      'data1: Unknown',
      'data1: Pending, PrepareVolume/1: mkfs.ext4',
      'data1: Available, PrepareVolume/DONE',
      '',
    ]);
  });

  test('fails with the reason when it is not to be', async () => {
    const failed = step({ phase: 'Failed', ...ready('False', 'CreationError', 'no space on n1') });
    const { code, out, err } = await stowage([...CREATE, '--wait'], { events: [pending, failed] });
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toContain('error: Volume data1 failed: CreationError: no space on n1\nhint: ');
  });

  test('goes on waiting while the node does not answer', async () => {
    const away = step({ phase: 'Pending', ...ready('Unknown', 'NodeUnreachable', 'n1 does not answer') });
    expect(await stowage([...CREATE, '--wait'], { events: [away, done] })).toMatchObject({ code: 0 });
  });

  test.each<[string, WatchEvent]>([
    ['deleted', { type: 'DELETED', object: volumeNamed('data1') }],
    ['replaced', modified({ ...volumeNamed('data1'), metadata: { name: 'data1', uid: 'other' } })],
  ])('ends when the Volume is %s', async (_, event) => {
    const { code, err } = await stowage([...CREATE, '--wait'], { events: [event] });
    expect(code).toBe(3);
    expect(err).toContain('Volume data1 was deleted while it was waited for');
  });

  test('gives up after --timeout', async () => {
    const clock = new FakeClock();
    const running = stowage([...CREATE, '--wait', '--timeout', '90s'], { events: [pending], clock });
    await clock.advance(89_999);
    await clock.advance(1);
    expect(await running).toMatchObject({ code: 6, out: '' });
  });
});
