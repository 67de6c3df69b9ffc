import { describe, expect, test } from '@jest/globals';
import type { KubeObject } from '../../../src/api/meta.ts';
import { nodeNamed, podNamed } from '../../support/cluster-objects.ts';
import { stowage } from '../../support/fake-io.ts';
import { refusal } from '../../support/refusals.ts';
import { claimNamed } from '../../support/snapshots.ts';
import { volumeNamed } from '../../support/volumes.ts';

const objects: Record<string, KubeObject> = {
  'volumes/a': volumeNamed('a'),
  'volumes/b': volumeNamed('b'),
  'nodes/n1': nodeNamed('n1', { ready: 'True' }),
  'pods/p': podNamed('p', 'prod'),
  'persistentvolumeclaims/c': claimNamed('c'),
};
const namesIn = (out: string) =>
  [...out.matchAll(/^Name: +(.*)$/gm)].map(([, name = '']) => name.split('/').at(-1));

describe('describe without names', () => {
  test.each([
    ['volumes', ['a', 'b'], 'volumes'],
    ['nodes', ['n1'], 'nodes'],
    ['pods', ['p'], 'pods'],
    ['pvc', ['c'], 'persistentvolumeclaims'],
  ])('describes all %s that the labels select', async (kind, names, plural) => {
    const argv = ['describe', kind, '-l', 'app=db', '-n', 'prod'];
    const { code, out, requests } = await stowage(argv, { objects });
    expect({ code, names: namesIn(out) }).toEqual({ code: 0, names });
    expect(requests[0]).toMatchObject({
      what: `list ${plural}/*`,
      options: { labelSelector: 'app=db' },
    });
  });

  test.each([
    [['describe', 'pods'], 'default'],
    [['describe', 'pods', '-A'], undefined],
    [['describe', 'snapshots', '-n', 'prod'], 'prod'],
    [['describe', 'snapshots', '--all-namespaces'], undefined],
    [['describe', 'volumes'], undefined],
    [['describe', 'volumes', '-A'], undefined],
  ])('%j lists in the namespace, or in all', async (argv, namespace) => {
    const { requests } = await stowage(argv, { objects });
    expect(requests[0]).toMatchObject({ options: { namespace } });
  });

  test('reports that there are none', async () => {
    expect(await stowage(['describe', 'volumes'])).toMatchObject({
      code: 0,
      out: '',
      err: 'No volumes found\n',
    });
  });

  test('ignores an object that is deleted meanwhile', async () => {
    const gone = refusal(404, 'gone', { reason: 'NotFound', details: { name: 'a' } });
    const failures = { 'get volumes/a': gone };
    const { code, out, err } = await stowage(['describe', 'volumes'], { objects, failures });
    expect({ code, err, names: namesIn(out) }).toEqual({ code: 0, err: '', names: ['b'] });
  });

  test('explains a cluster without VolumeSnapshots', async () => {
    const failures = { 'list volumesnapshots/*': refusal(404, 'no such resource') };
    const { code, err } = await stowage(['describe', 'snapshots'], { failures });
    expect(code).toBe(3);
    expect(err).toContain('This cluster has no VolumeSnapshots');
  });

  test('refuses a selector that the server cannot parse', async () => {
    const failures = { 'list volumes/*': refusal(400, 'unable to parse') };
    const { code } = await stowage(['describe', 'volumes', '-l', '=='], { failures });
    expect(code).toBe(2);
  });
});
