import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { stowage } from '../support/fake-io.ts';
import { ready, volumeNamed } from '../support/volumes.ts';

const a = volumeNamed('a');
const data1 = volumeNamed('data1', {
  phase: 'Available',
  deviceName: 'loop3',
  devicePath: '/dev/disk/by-uuid/u',
  capacity: '1Gi',
  job: 'PrepareVolume/DONE',
  ...ready('True', 'Available'),
});
const objects = { 'volumes/a': a, 'volumes/data1': data1 };

test('a table', async () => {
  const { code, out, err } = await stowage(['get', 'volumes'], { objects });
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(out).toBe(
    [
      'NAME    NODE   PHASE       DEVICE   CAPACITY   STORAGECLASS   AGE',
      'a       n1     Unknown     <none>   <none>     fast           5h',
      'data1   n1     Available   loop3    1Gi        fast           5h',
      '',
    ].join('\n'),
  );
});

test('a wide table', async () => {
  const { out } = await stowage(['get', 'vol', 'data1', '-o', 'wide'], { objects });
  expect(out).toBe(
    [
      'NAME    NODE   PHASE       DEVICE   CAPACITY   STORAGECLASS   AGE   PATH                  JOB                  REASON',
      'data1   n1     Available   loop3    1Gi        fast           5h    /dev/disk/by-uuid/u   PrepareVolume/DONE   Available',
      '',
    ].join('\n'),
  );
});

describe('data', () => {
  test('of one that was named is that object', async () => {
    expect(JSON.parse((await stowage(['get', 'vol', 'a', '-o', 'json'], { objects })).out)).toEqual(a);
    expect(parse((await stowage(['get', 'vol', 'a', '-o', 'yaml'], { objects })).out)).toEqual(a);
  });

  test('of all is a List, also of none', async () => {
    expect(JSON.parse((await stowage(['get', 'vol', '-o', 'json'], { objects })).out)).toMatchObject({
      kind: 'List',
      items: [a, data1],
    });
    const { code, out } = await stowage(['get', 'vol', '-o', 'json']);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ kind: 'List', items: [] });
  });

  test('of several is names', async () => {
    const { out } = await stowage(['get', 'vol', '-o', 'name'], { objects });
    expect(out).toBe('volume.storage.metalk8s.scality.com/a\nvolume.storage.metalk8s.scality.com/data1\n');
  });
});

test('none', async () => {
  expect(await stowage(['get', 'volumes'])).toMatchObject({ code: 0, out: '', err: 'No volumes found\n' });
});

test('a selector is the server’s to apply', async () => {
  const { requests } = await stowage(['get', 'volumes', '-l', 'a in (b,c)'], { objects });
  expect(requests).toMatchObject([{ what: 'list volumes/*', options: { labelSelector: 'a in (b,c)' } }]);
});

test('names that do not exist', async () => {
  expect(await stowage(['get', 'volumes', 'x'])).toMatchObject({
    code: 3,
    out: '',
    err: 'error: volumes/x not found\n',
  });
  const { code, out, err } = await stowage(['get', 'volumes', 'x', 'a', '-o', 'name'], { objects });
  expect({ code, out }).toEqual({ code: 7, out: 'volume.storage.metalk8s.scality.com/a\n' });
  expect(err).toBe('error: volumes/x not found\nerror: 1 of 2 failed\n');
});
