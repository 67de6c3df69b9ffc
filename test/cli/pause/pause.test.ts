import { describe, expect, test } from '@jest/globals';
import type { KubeObject } from '../../../src/api/meta.ts';
import type { Volume } from '../../../src/api/volume.ts';
import { nodeNamed } from '../../support/cluster-objects.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { stowage, type World } from '../../support/fake-io.ts';
import { refusal } from '../../support/refusals.ts';
import { volumeNamed } from '../../support/volumes.ts';

const PAUSED = 'stowage.dev/paused';
const VOLUME = 'volume.storage.metalk8s.scality.com';
const RUNNING = 'note: jobs that run already continue to their end\n';

/** Returns an object with the annotation, or without it. */
const withPause = <T extends KubeObject>(object: T, value?: string): T => ({
  ...object,
  metadata: {
    ...object.metadata,
    uid: `uid-${object.metadata.name}`,
    ...(value !== undefined && { annotations: { [PAUSED]: value } }),
  },
});

const volume = (name: string, value?: string): Volume => withPause(volumeNamed(name), value);
const node = (name: string, value?: string) => withPause(nodeNamed(name), value);

/** Returns a Volume whose condition reports a pause, or that there is none. */
const reporting = (object: Volume, status: 'True' | 'False'): Volume => ({
  ...object,
  status: { conditions: [{ type: 'Paused', status, reason: 'Paused', message: 'so it is' }] },
});

const patches = ({ requests }: Awaited<ReturnType<typeof stowage>>) =>
  requests.filter(({ what }) => what.startsWith('patch')).map(({ what, object }) => [what, object]);

describe('sets and removes the annotation of the object that was read', () => {
  test.each<[string, KubeObject, string, string | null, string, string]>([
    ['pause volume a', volume('a'), 'volumes/a', 'true', `${VOLUME}/a paused\n`, RUNNING],
    ['pause vol/a', volume('a', 'false'), 'volumes/a', 'true', `${VOLUME}/a paused\n`, RUNNING],
    ['pause node n1', node('n1'), 'nodes/n1', 'true', 'node/n1 paused\n', RUNNING],
    ['resume volume a', volume('a', 'true'), 'volumes/a', null, `${VOLUME}/a resumed\n`, ''],
    ['resume no/n1', node('n1', 'disk swap'), 'nodes/n1', null, 'node/n1 resumed\n', ''],
  ])('%s', async (line, object, key, value, out, err) => {
    const outcome = await stowage(line.split(' '), { objects: { [key]: object } });
    expect(outcome).toMatchObject({ code: 0, out, err });
    expect(patches(outcome)).toEqual([
      [
        `patch ${key}`,
        { metadata: { annotations: { [PAUSED]: value }, uid: object.metadata.uid } },
      ],
    ]);
  });
});

test.each<[string, KubeObject, string, string]>([
  ['pause volume a', volume('a', 'true'), 'volumes/a', `${VOLUME}/a already paused\n`],
  ['pause node n1', node('n1', 'disk swap'), 'nodes/n1', 'node/n1 already paused\n'],
  ['resume volume a', volume('a'), 'volumes/a', `${VOLUME}/a not paused\n`],
  ['resume node n1', node('n1', 'false'), 'nodes/n1', 'node/n1 not paused\n'],
])('%s changes nothing if it is so already', async (line, object, key, out) => {
  const outcome = await stowage(line.split(' '), { objects: { [key]: object } });
  expect(outcome).toMatchObject({ code: 0, out, err: '' });
  expect(patches(outcome)).toEqual([]);
});

test('a failure for some of several objects exits with 7', async () => {
  const objects = { 'nodes/n1': node('n1'), 'nodes/n3': node('n3', 'true') };
  const { code, out, err } = await stowage(['pause', 'node', 'n{1..3}'], { objects });
  expect({ code, out }).toEqual({ code: 7, out: 'node/n1 paused\nnode/n3 already paused\n' });
  expect(err).toContain('nodes/n2 not found');
});

test.each([
  [['-l', 'app=db'], 'app=db'],
  [['--all'], undefined],
])('pauses the listed Volumes: %j', async (argv, labelSelector) => {
  const objects = { 'volumes/a': volume('a'), 'volumes/b': volume('b', 'true') };
  const outcome = await stowage(['pause', 'volumes', ...argv], { objects });
  expect(outcome).toMatchObject({
    code: 0,
    out: `${VOLUME}/a paused\n${VOLUME}/b already paused\n`,
  });
  expect(outcome.requests[0]).toMatchObject({ what: 'list volumes/*', options: { labelSelector } });
});

test('leaves out what is deleted after it was listed, and refuses what replaced it', async () => {
  const objects = { 'nodes/n1': node('n1'), 'nodes/n2': node('n2') };
  const failures = { 'get nodes/n1': refusal(404, 'gone', { reason: 'NotFound' }) };
  // The list has the UID of a Node that another one replaces before it is read.
  const replaced = Object.defineProperty({ ...objects }, 'nodes/n2', {
    enumerable: true,
    get: () => {
      const { metadata, ...rest } = node('n2');
      return { ...rest, metadata: { ...metadata, uid: `uid-${++reads}` } };
    },
  });
  let reads = 0;
  const outcome = await stowage(['pause', 'nodes', '--all'], { objects: replaced, failures });
  expect(outcome).toMatchObject({ code: 7, out: '' });
  expect(outcome.err).toContain('error: Node n2 was replaced by another one meanwhile\n');
  expect(patches(outcome)).toEqual([]);
});

test.each([
  [['pause', 'volume'], 'pause volume needs names, or --selector, or --all'],
  [['resume', 'node', 'n1', '--all'], 'resume node needs names, or --selector, or --all'],
  [['pause', 'node', '-l', ''], '--selector is empty'],
  [['pause', 'pvc/db/a'], 'stowage pause takes Volumes, not pvc/db/a'],
])('%j is refused without a request', async (argv, text) => {
  const { code, err, requests } = await stowage(argv);
  expect({ code, requests }).toEqual({ code: 2, requests: [] });
  expect(err).toContain(text);
});

test.each([
  ['volumes', 'No volumes found\n'],
  ['nodes', 'No nodes found\n'],
])('an empty list of %s is data, too', async (noun, err) => {
  const outcome = await stowage(['pause', noun, '--all', '-o', 'json'], { objects: {} });
  expect(outcome).toMatchObject({ code: 0, err });
  expect(JSON.parse(outcome.out)).toMatchObject({ kind: 'List', items: [] });
});

test('resume names the node that still pauses a Volume, and does not wait for it', async () => {
  // Paused by itself only until it is changed.
  const objects = Object.defineProperty({ 'nodes/n1': node('n1', 'true') }, 'volumes/a', {
    enumerable: true,
    get: () => reporting(volume('a', ++reads === 1 ? 'true' : undefined), 'True'),
  });
  let reads = 0;
  const outcome = await stowage(['resume', 'volume', 'a', '--wait'], { objects });
  expect(outcome).toMatchObject({ code: 0, out: `${VOLUME}/a resumed\n` });
  expect(outcome.err).toContain(
    'note: Node n1 is paused, too, so its Volumes stay paused. To resume it: stowage resume node n1\n',
  );
});

describe('--wait', () => {
  const modified = (object: Volume) => [{ type: 'MODIFIED' as const, object }];
  const other = { ...volume('other'), spec: { ...volume('other').spec, nodeName: 'n2' } };

  test.each<[string, World, string]>([
    [
      'pause volume a',
      { objects: { 'volumes/a': volume('a') }, events: modified(reporting(volume('a'), 'True')) },
      `${VOLUME}/a paused\n`,
    ],
    [
      'pause node n1',
      {
        objects: { 'nodes/n1': node('n1'), 'volumes/a': volume('a'), 'volumes/other': other },
        events: modified(reporting(volume('a'), 'True')),
      },
      'node/n1 paused\n',
    ],
    [
      'resume node n1',
      {
        objects: {
          'nodes/n1': node('n1', 'true'),
          'volumes/a': reporting(volume('a'), 'True'),
          // Paused by itself.
          'volumes/b': reporting(volume('b', 'true'), 'True'),
        },
        events: modified(reporting(volume('a'), 'False')),
      },
      'node/n1 resumed\n',
    ],
  ])('%s ends once the condition follows', async (line, world, out) => {
    const outcome = await stowage([...line.split(' '), '--wait'], world);
    expect(outcome).toMatchObject({ code: 0, out });
    expect(outcome.err).toContain('a: ');
    expect(outcome.err).not.toContain('other: ');
  });

  test('pause node ends if a Volume of it is gone', async () => {
    const objects = { 'nodes/n1': node('n1'), 'volumes/a': volume('a') };
    const events = [{ type: 'DELETED' as const, object: volume('a') }];
    const outcome = await stowage(['pause', 'node', 'n1', '--wait'], { objects, events });
    expect(outcome).toMatchObject({ code: 0, out: 'node/n1 paused\n' });
  });

  test.each(['pause volume a', 'pause node n1'])('%s times out with a hint', async (line) => {
    const clock = new FakeClock();
    const objects = { 'nodes/n1': node('n1'), 'volumes/a': volume('a') };
    const running = stowage([...line.split(' '), '--wait', '--timeout', '10s'], { objects, clock });
    await clock.advance(10_000);
    const { code, err } = await running;
    expect(code).toBe(6);
    expect(err).toContain('error: Volume a: timed out after 10 s\n');
    expect(err).toContain('hint: Check whether a daemon leads: stowage check cluster\n');
  });
});
