import { describe, expect, test } from '@jest/globals';
import { StowageError } from '../../../src/api/errors.ts';
import type { KubeObject } from '../../../src/api/meta.ts';
import { SignalError } from '../../../src/cli/lib/signals.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { stowage } from '../../support/fake-io.ts';
import { pvOf, ready, volumeNamed } from '../../support/volumes.ts';

const available = (name: string) => ({
  [`volumes/${name}`]: volumeNamed(name, { phase: 'Available' }),
});
const bound = (name: string) => ({
  ...available(name),
  [`persistentvolumes/${name}`]: pvOf(volumeNamed(name), 'Bound'),
});
const fullName = (name: string) => `volume.storage.metalk8s.scality.com/${name}`;

test('deletes the object that was read, by its UID', async () => {
  const { code, out, err, requests } = await stowage(['delete', 'volume', 'a'], {
    objects: available('a'),
  });
  expect({ code, out, err }).toEqual({ code: 0, out: `${fullName('a')} deleted\n`, err: '' });
  expect(requests.at(-1)).toMatchObject({ what: 'delete volumes/a', options: { uid: 'uid-a' } });
});

describe('delete volume of a Volume whose data stays', () => {
  const kept = volumeNamed('a', {
    phase: 'Available',
    prepared: { node: 'n1', paths: ['/srv/a'], identity: '' },
  });
  const objects = { 'volumes/a': { ...kept, spec: { ...kept.spec, onDelete: 'Retain' as const } } };

  test('notes what stays', async () => {
    const { code, out, err } = await stowage(['delete', 'volume', 'a'], { objects });
    expect({ code, out, err }).toEqual({
      code: 0,
      out: `${fullName('a')} deleted\n`,
      err: 'note: Volume a on n1: its file /srv/a stays, with its data\n',
    });
  });

  test.each(['name', 'json'])('notes nothing with -o %s', async (format) => {
    const { err } = await stowage(['delete', 'volume', 'a', '-o', format], { objects });
    expect(err).toBe('');
  });

  test('notes nothing if the deletion is refused', async () => {
    const failures = { 'delete volumes/a': new StowageError('forbidden', 'not allowed') };
    const { code, err } = await stowage(['delete', 'volume', 'a'], { objects, failures });
    expect({ code, err }).toEqual({ code: 4, err: 'error: not allowed\n' });
  });
});

test('refuses a bound Volume, with a hint', async () => {
  const { code, out, err, requests } = await stowage(['delete', 'volume', 'a'], {
    objects: bound('a'),
  });
  expect({ code, out }).toEqual({ code: 5, out: '' });
  expect(err).toBe(
    'error: Volume a cannot be deleted: its PersistentVolume is bound to the claim db/data-0\n' +
      'hint: Delete that claim first, if its data is not needed: kubectl delete pvc data-0 -n db\n',
  );
  expect(requests.map(({ what }) => what)).not.toContain('delete volumes/a');
});

test('does not delete when it may not read the PersistentVolume', async () => {
  const failures = { 'get persistentvolumes/a': new StowageError('forbidden', 'not allowed') };
  const { code, requests } = await stowage(['delete', 'volume', 'a'], {
    objects: available('a'),
    failures,
  });
  expect(code).toBe(4);
  expect(requests.map(({ what }) => what)).not.toContain('delete volumes/a');
});

test.each([
  ['--all', undefined],
  ['--selector=app=db', 'app=db'],
])('%s deletes the listed Volumes, except those in use', async (flag, labelSelector) => {
  const { code, out, requests } = await stowage(['delete', 'volumes', flag], {
    objects: { ...bound('a'), ...available('b') },
  });
  expect({ code, out }).toEqual({ code: 7, out: `${fullName('b')} deleted\n` });
  expect(requests[0]).toMatchObject({ what: 'list volumes/*', options: { labelSelector } });
});

test('--all reports that there are no Volumes', async () => {
  const { code, err } = await stowage(['delete', 'volumes', '--all']);
  expect({ code, err }).toEqual({ code: 0, err: 'No volumes found\n' });
});

test('does not delete a Volume that was replaced since it was listed', async () => {
  const listed = available('a');
  let gets = 0;
  const replaced = new Proxy<Record<string, KubeObject>>(listed, {
    get(target, key: string) {
      const found = target[key];
      if (key !== 'volumes/a' || found === undefined || gets++ === 0) return found;
      return { ...found, metadata: { ...found.metadata, uid: 'another' } };
    },
  });
  const { code, err, requests } = await stowage(['delete', 'volumes', '--all'], {
    objects: replaced,
  });
  expect({ code, err }).toEqual({
    code: 5,
    err: expect.stringContaining('Volume a was replaced by another one meanwhile'),
  });
  expect(requests.map(({ what }) => what)).not.toContain('delete volumes/a');
});

test('--all does not delete a terminating Volume again, but --wait waits for it', async () => {
  const going = volumeNamed('a', { phase: 'Terminating' });
  const deletionTimestamp = '2029-12-31T00:00:00Z';
  const objects = {
    'volumes/a': { ...going, metadata: { ...going.metadata, deletionTimestamp } },
  };
  const { code, out } = await stowage(['delete', 'volumes', '--all', '-o', 'json'], { objects });
  expect({ code, list: JSON.parse(out) }).toMatchObject({ code: 0, list: { items: [] } });
  const events = [{ type: 'DELETED' as const, object: objects['volumes/a'] }];
  const waited = await stowage(['delete', 'volumes', '--all', '--wait'], { objects, events });
  expect(waited).toMatchObject({ code: 0, err: expect.stringContaining('a: gone') });
});

describe('delete volume of a Volume that is already being deleted', () => {
  const going = volumeNamed('a', { phase: 'Terminating' });
  const deletionTimestamp = '2029-12-31T00:00:00Z';
  const objects = {
    'volumes/a': { ...going, metadata: { ...going.metadata, deletionTimestamp } },
  };

  test('reports that, and succeeds', async () => {
    const { code, out, err, requests } = await stowage(['delete', 'volume', 'a'], { objects });
    expect({ code, out, err }).toEqual({
      code: 0,
      out: `${fullName('a')} deleted\n`,
      err: 'note: Volume a is already being deleted\n',
    });
    expect(requests.map(({ what }) => what)).not.toContain('delete volumes/a');
  });

  test('asks no question about its data', async () => {
    const { code, err } = await stowage(['delete', 'volume', 'a'], { objects, tty: true });
    expect({ code, err }).toEqual({ code: 0, err: 'note: Volume a is already being deleted\n' });
  });

  test('waits with --wait', async () => {
    const events = [{ type: 'DELETED' as const, object: objects['volumes/a'] }];
    const waited = await stowage(['delete', 'volume', 'a', '--wait'], { objects, events });
    expect(waited).toMatchObject({ code: 0, err: expect.stringContaining('a: gone') });
  });
});

test.each([[['-l', '']], [['-l', ' ']], [['--selector=']]])(
  'refuses the empty selector %j: an unset variable would select all',
  async (words: string[]) => {
    const { code, err, requests } = await stowage(['delete', 'volumes', ...words], {
      objects: available('a'),
    });
    expect({ code, requests }).toEqual({ code: 2, requests: [] });
    expect(err).toContain('--selector is empty');
  },
);

test.each([
  [[]],
  [['a', '--all']],
  [['a', '-l', 'x']],
  [['--all', '-l', 'x']],
  [['--all', '--forget-node', '--yes']],
  [['-l', 'x', '--forget-node', '--yes']],
])('delete volume %j is wrong usage', async (words: string[]) => {
  expect(await stowage(['delete', 'volume', ...words])).toMatchObject({ code: 2, requests: [] });
});

test('exits with 3 for a missing Volume, or with 0 given --ignore-not-found', async () => {
  expect(await stowage(['delete', 'volume', 'a'])).toMatchObject({ code: 3, out: '' });
  expect(await stowage(['delete', 'volume', 'a', '--ignore-not-found'])).toMatchObject({
    code: 0,
    out: '',
    err: '',
  });
});

test('exits with 7 if it deletes only some of several Volumes', async () => {
  const { code, out, err } = await stowage(['delete', 'volumes', 'a', 'b', 'c'], {
    objects: { ...bound('a'), ...available('b') },
  });
  expect({ code, out }).toEqual({ code: 7, out: `${fullName('b')} deleted\n` });
  expect(err).toContain('Volume a cannot be deleted');
  expect(err).toContain('volumes/c not found');
  expect(err).toContain('error: 2 of 3 failed\n');
});

test('exits with the common status if all Volumes fail alike, else with 1', async () => {
  const refused = { ...bound('a'), ...bound('b') };
  expect(await stowage(['delete', 'volumes', 'a', 'b'], { objects: refused })).toMatchObject({
    code: 5,
  });
  expect(await stowage(['delete', 'volumes', 'a', 'b', 'c'], { objects: refused })).toMatchObject({
    code: 1,
  });
});

test('--wait shows each step, and what it waits for, until the Volume is gone', async () => {
  const step = (status: object) => ({
    type: 'MODIFIED' as const,
    object: volumeNamed('a', { phase: 'Terminating', job: 'UnprepareVolume/1', ...status }),
  });
  const { code, out, err } = await stowage(['delete', 'volume', 'a', '--wait'], {
    objects: available('a'),
    events: [
      step({}),
      step(ready('Unknown', 'NodeUnreachable', 'n1 does not answer')),
      step({ job: 'UnprepareVolume/DONE', ...ready('Unknown', 'Terminating') }),
      { type: 'DELETED', object: volumeNamed('a') },
    ],
  });
  expect({ code, out }).toEqual({ code: 0, out: `${fullName('a')} deleted\n` });
  expect(err.split('\n')).toEqual([
    'a: Available',
    'a: Terminating, UnprepareVolume/1',
    'a: Terminating, UnprepareVolume/1, NodeUnreachable: n1 does not answer',
    'a: Terminating, UnprepareVolume/DONE',
    'a: gone',
    '',
  ]);
});

test('--wait shows why a paused Volume waits', async () => {
  const paused = volumeNamed('a', {
    phase: 'Available',
    conditions: [
      { type: 'Ready', status: 'True', reason: 'Available', message: '' },
      {
        type: 'Paused',
        status: 'True',
        reason: 'Paused',
        message: 'the annotation of Node n1; its deletion waits',
      },
    ],
  });
  const { err } = await stowage(['delete', 'volume', 'a', '--wait'], {
    objects: available('a'),
    events: [
      { type: 'MODIFIED', object: paused },
      { type: 'DELETED', object: paused },
    ],
  });
  expect(err).toBe(
    'a: Available\na: Available, paused: the annotation of Node n1; its deletion waits\na: gone\n',
  );
});

test('--wait ends when another Volume has taken the name', async () => {
  const other = { ...volumeNamed('a'), metadata: { name: 'a', uid: 'other' } };
  expect(
    await stowage(['delete', 'volume', 'a', '--wait'], {
      objects: available('a'),
      events: [{ type: 'MODIFIED', object: other }],
    }),
  ).toMatchObject({ code: 0 });
});

test('--wait fails when the storage could not be removed', async () => {
  const stuck = volumeNamed('a', {
    phase: 'Failed',
    ...ready('False', 'DestructionError', 'the file is in use'),
  });
  const { code, err } = await stowage(['delete', 'volume', 'a', '--wait'], {
    objects: available('a'),
    events: [{ type: 'MODIFIED', object: stuck }],
  });
  expect(code).toBe(1);
  expect(err).toContain('Volume a could not be removed: the file is in use');
});

test('--wait times out after --timeout', async () => {
  const clock = new FakeClock();
  const running = stowage(['delete', 'volume', 'a', '--wait', '--timeout=1m'], {
    objects: available('a'),
    clock,
  });
  await clock.advance(60_000);
  const { code, out, err } = await running;
  expect({ code, out }).toEqual({ code: 6, out: '' });
  expect(err).toContain('Find out what holds it up: stowage why volume a\n');
});

describe('delete volume on a terminal', () => {
  const kept = {
    ...volumeNamed('kept', { phase: 'Available' }),
    spec: { nodeName: 'n1', storageClassName: 'fast', rawBlockDevice: { devicePath: '/dev/sdb' } },
  };

  test('lists what is destroyed, and asks once', async () => {
    const objects = { ...available('a'), ...available('b') };
    const { code, out, err, questions } = await stowage(['delete', 'volume', 'a', 'b'], {
      objects,
      tty: true,
      answers: [true],
    });
    expect({ code, out }).toEqual({
      code: 0,
      out: `${fullName('a')} deleted\n${fullName('b')} deleted\n`,
    });
    expect(err).toBe(
      'Volume a on n1: its file is removed with all its data\nVolume b on n1: its file is removed with all its data\n',
    );
    expect(questions).toHaveLength(1);
  });

  test('deletes nothing if the answer is no', async () => {
    const { code, out, err, requests } = await stowage(['delete', 'volume', 'a'], {
      objects: available('a'),
      tty: true,
      answers: [false],
    });
    expect({ code, out }).toEqual({ code: 5, out: '' });
    expect(err).toContain(' Not confirmed: nothing was done\n');
    expect(requests.map(({ what }) => what)).not.toContain('delete volumes/a');
  });

  test.each([
    [['a', '--yes'], available('a')],
    [['kept'], { 'volumes/kept': kept }],
  ])('does not prompt for %j', async (argv, objects) => {
    expect(await stowage(['delete', 'volume', ...argv], { objects, tty: true })).toMatchObject({
      code: 0,
      questions: [],
    });
  });

  test('does not prompt for a Volume that is refused', async () => {
    expect(
      await stowage(['delete', 'volume', 'a'], { objects: bound('a'), tty: true }),
    ).toMatchObject({
      code: 5,
      questions: [],
    });
  });

  test('refuses a Volume that came into use during the prompt', async () => {
    const objects: Record<string, KubeObject> = available('a');
    const running = stowage(['delete', 'volume', 'a'], {
      objects,
      tty: true,
      answers: [true],
      onQuestion: () => Object.assign(objects, bound('a')),
    });
    const { code, requests } = await running;
    expect(code).toBe(5);
    expect(requests.map(({ what }) => what)).not.toContain('delete volumes/a');
  });

  test('exits with 130 after Ctrl-C at the prompt', async () => {
    const { code, requests } = await stowage(['delete', 'volume', 'a'], {
      objects: available('a'),
      tty: true,
      answers: [new SignalError('SIGINT')],
    });
    expect(code).toBe(130);
    expect(requests.map(({ what }) => what)).not.toContain('delete volumes/a');
  });
});
