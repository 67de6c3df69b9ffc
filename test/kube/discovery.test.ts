import { describe, expect, test } from '@jest/globals';
import { REFERENCE_GRANT_VERSIONS } from '../../src/api/names.ts';
import { REFERENCE_GRANTS } from '../../src/api/resources.ts';
import { kindsInNamespaces, servedAs } from '../../src/kube/discovery.ts';
import { refusal } from '../support/refusals.ts';

const VERBS = ['create', 'delete', 'get', 'list'];
const kind = (name: string, rest: object = {}) => ({
  name,
  kind: name,
  namespaced: true,
  verbs: VERBS,
  ...rest,
});
const group = (name: string, ...versions: string[]) => ({
  name,
  versions: versions.map((version) => ({ version, groupVersion: `${name}/${version}` })),
});
const asked = (answers: Record<string, unknown>) =>
  kindsInNamespaces({
    send: async ({ path }) => {
      if (path in answers) return answers[path];
      throw refusal(503, '');
    },
  });
const CORE = { '/api/v1': { resources: [kind('secrets')] } };

test('kindsInNamespaces returns each kind that can be listed and deleted, once', async () => {
  const found = await asked({
    '/api/v1': {
      resources: [
        kind('secrets'),
        kind('pods/log'),
        kind('nodes', { namespaced: false }),
        kind('bindings', { verbs: ['create'] }),
      ],
    },
    '/apis': { groups: [group('a.example', 'v2', 'v1'), group('metrics.example', 'v1')] },
    '/apis/a.example/v2': { resources: [kind('things')] },
    '/apis/a.example/v1': { resources: [kind('things'), kind('olds')] },
    '/apis/metrics.example/v1': { resources: [kind('pods', { verbs: ['get', 'list'] })] },
  });
  expect(found.map(({ group, version, plural }) => `${plural}.${group}/${version}`)).toEqual([
    'secrets./v1',
    'things.a.example/v2',
    'olds.a.example/v1',
  ]);
});

test('kindsInNamespaces accepts null for an empty list of groups', async () => {
  expect(await asked({ ...CORE, '/apis': { groups: null } })).toHaveLength(1);
});

test.each([
  [
    'a group that does not answer',
    { '/apis': { groups: [group('away.example', 'v1')] } },
    'returned status 503',
  ],
  ['an invalid answer', { '/apis': {} }, 'the answer to /apis has no list of groups'],
])('kindsInNamespaces throws on %s', async (_, answers, message) => {
  await expect(asked({ ...CORE, ...answers })).rejects.toThrow(message);
});

describe('servedAs', () => {
  const GROUP = REFERENCE_GRANTS.group;
  const served = { resources: [kind('referencegrants')] };
  const gateways = { resources: [kind('gateways')] };
  test.each<[string, Record<string, unknown>, string | undefined]>([
    [
      'the first version',
      { [`/apis/${GROUP}/v1`]: served, [`/apis/${GROUP}/v1beta1`]: served },
      'v1',
    ],
    [
      'the version that has the kind',
      { [`/apis/${GROUP}/v1`]: gateways, [`/apis/${GROUP}/v1beta1`]: served },
      'v1beta1',
    ],
    ['the only version', { [`/apis/${GROUP}/v1beta1`]: served }, 'v1beta1'],
    ['no version', { [`/apis/${GROUP}/v1`]: { resources: null } }, undefined],
  ])('returns the served version of a kind: %s', async (_name, answers, version) => {
    const found = await servedAs(
      {
        send: async ({ path }) => {
          if (path in answers) return answers[path];
          throw refusal(404, '');
        },
      },
      REFERENCE_GRANTS,
      REFERENCE_GRANT_VERSIONS,
    );
    expect(found).toEqual(version && { ...REFERENCE_GRANTS, version });
  });

  test('throws if the server fails', async () => {
    const send = async () => {
      throw refusal(503, '');
    };
    await expect(servedAs({ send }, REFERENCE_GRANTS, ['v1'])).rejects.toThrow('503');
  });
});
