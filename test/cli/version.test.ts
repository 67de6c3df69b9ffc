import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { LEFTOVER_CRD, POPULATOR_DEFINITION_CRD, VOLUME_CRD } from '../../src/api/crds.ts';
import { VERSION } from '../../src/api/version.ts';
import { type Definition, skewOf } from '../../src/cli/lib/objects/skew.ts';
import { ConnectionError } from '../../src/kube/errors.ts';
import { stowage } from '../support/fake-io.ts';
import { refusal } from '../support/refusals.ts';

const VOLUMES = 'volumes.storage.metalk8s.scality.com';
const LEFTOVERS = 'leftovers.stowage.dev';
const DEFINITIONS = 'populatordefinitions.stowage.dev';
const key = (name: string) => `customresourcedefinitions/${name}`;
const objects = {
  [key(VOLUMES)]: VOLUME_CRD,
  [key(LEFTOVERS)]: LEFTOVER_CRD,
  [key(DEFINITIONS)]: POPULATOR_DEFINITION_CRD,
};
const client = {
  version: VERSION,
  node: process.version,
  platform: `${process.platform}/${process.arch}`,
};

/** Returns the CRD of Volume with a changed schema. */
function changed(
  change: (schema: { spec: Record<string, object>; status: Record<string, object> }) => void,
) {
  const crd = structuredClone(VOLUME_CRD);
  const { spec, status } = crd.spec.versions[0]?.schema.openAPIV3Schema.properties ?? {};
  change({ spec: spec?.properties ?? {}, status: status?.properties ?? {} });
  return crd as typeof VOLUME_CRD & Definition;
}

describe('skewOf', () => {
  test.each<[string, Definition | undefined, object]>([
    ['the same', VOLUME_CRD, { skew: 'none' }],
    ['no CRD', undefined, { skew: 'missing' }],
    [
      'missing fields',
      changed(({ spec, status }) => {
        delete spec.onDelete;
        delete spec.source;
        delete status.phase;
      }),
      { skew: 'older', lacks: ['spec.onDelete', 'spec.source', 'status.phase'] },
    ],
    [
      'additional fields',
      changed(({ spec, status }) => {
        spec.onDeleteAsWell = { type: 'object', properties: { a: {} } };
        Object.assign((status.conditions as { items: { properties: object } }).items.properties, {
          more: {},
        });
      }),
      { skew: 'newer', extra: ['spec.onDeleteAsWell', 'status.conditions[].more'] },
    ],
    [
      'missing and additional fields',
      changed(({ spec }) => {
        spec.added = {};
        delete spec.mode;
      }),
      { skew: 'different', lacks: ['spec.mode'], extra: ['spec.added'] },
    ],
    [
      'another validation rule',
      changed(({ spec }) => Object.assign(spec.mode ?? {}, { enum: ['Block'] })),
      { skew: 'different' },
    ],
    [
      'defaults of the server',
      {
        ...VOLUME_CRD,
        spec: { ...VOLUME_CRD.spec, conversion: { strategy: 'None' } },
      } as Definition,
      { skew: 'none' },
    ],
    [
      'another version',
      { ...VOLUME_CRD, spec: { versions: [{ name: 'v9' }] } },
      { skew: 'older', lacks: ['apiVersion', 'kind', 'metadata', 'spec', 'status'] },
    ],
  ])('detects the skew of the installed CRD: %s', (_, installed, wanted) => {
    expect(skewOf(VOLUME_CRD, installed)).toEqual({ lacks: [], extra: [], ...wanted });
  });
});

test('version prints client, server and CRDs', async () => {
  const { code, out, err } = await stowage(['version'], { objects });
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(out).toBe(
    [
      `Client:  ${VERSION} (Node.js ${client.node}, ${client.platform})`,
      'Server:  v1.32.0 (https://cluster.example)',
      'CRDs:',
      `  ${VOLUMES}:  matches this version`,
      `  ${LEFTOVERS}:                 matches this version`,
      `  ${DEFINITIONS}:      matches this version`,
      '',
    ].join('\n'),
  );
});

test('version names missing CRDs and the fields that differ', async () => {
  const older = changed(({ spec }) => {
    for (const name of ['mode', 'source', 'onDelete', 'overwrite']) delete spec[name];
    spec.more = {};
  });
  const { out } = await stowage(['version'], { objects: { [key(VOLUMES)]: older } });
  expect(out).toContain(
    `${VOLUMES}:  different; lacks spec.mode, spec.overwrite, spec.onDelete and 1 more; has spec.more, which this version does not know\n`,
  );
  expect(out).toMatch(/leftovers.stowage.dev: +missing\n/);
});

test('version prints JSON and YAML', async () => {
  const wanted = {
    client,
    server: { url: 'https://cluster.example', version: 'v1.32.0' },
    crds: [
      { name: VOLUMES, skew: 'none', lacks: [], extra: [] },
      { name: LEFTOVERS, skew: 'missing', lacks: [], extra: [] },
      { name: DEFINITIONS, skew: 'missing', lacks: [], extra: [] },
    ],
  };
  const some = { [key(VOLUMES)]: VOLUME_CRD };
  expect(JSON.parse((await stowage(['version', '-o', 'json'], { objects: some })).out)).toEqual(
    wanted,
  );
  expect(parse((await stowage(['version', '-o', 'yaml'], { objects: some })).out)).toEqual(wanted);
});

test('version prints the client, then fails if the server does not answer', async () => {
  const serverVersion = new ConnectionError('https://cluster.example', 'refused');
  const text = await stowage(['version'], { serverVersion });
  expect(text).toMatchObject({ code: 1, out: expect.stringMatching(/^Client: .*\n$/) });
  expect(text.err).toMatch(/^error: API server https:\/\/cluster.example: refused\nhint: /);
  const data = await stowage(['version', '-o', 'json'], { serverVersion });
  expect(data.code).toBe(1);
  expect(JSON.parse(data.out)).toEqual({ client });
  expect(JSON.parse(data.err)).toMatchObject({ code: 'failed', reason: 'ServerUnreachable' });
});

test('version --client does not connect to a server', async () => {
  const { code, out, connections } = await stowage(['version', '--client', '-o', 'json']);
  expect({ code, connections }).toEqual({ code: 0, connections: [] });
  expect(JSON.parse(out)).toEqual({ client });
});

test('version reports an unknown skew for CRDs that the user may not read', async () => {
  const forbidden = refusal(403, 'no crds for you\u001b');
  const failures = Object.fromEntries(
    [VOLUMES, LEFTOVERS, DEFINITIONS].map((name) => [`get ${key(name)}`, forbidden]),
  );
  const { code, out, err } = await stowage(['version', '-o', 'json'], { failures });
  expect(code).toBe(0);
  expect(JSON.parse(out).crds).toEqual([
    { name: VOLUMES, skew: 'unknown' },
    { name: LEFTOVERS, skew: 'unknown' },
    { name: DEFINITIONS, skew: 'unknown' },
  ]);
  expect(err).toBe('note: not checked: no crds for you\ufffd\n'.repeat(3));
});
