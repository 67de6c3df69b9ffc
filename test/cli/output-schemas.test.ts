import { describe, expect, test } from '@jest/globals';
import type { Command, Option } from 'commander';
import { parse } from 'yaml';
import type { Pod } from '../../src/api/core.ts';
import { VOLUME_CRD } from '../../src/api/crds.ts';
import { createProgram } from '../../src/cli/program.ts';
import { NodeError } from '../../src/nodes/errors.ts';
import { freeSpaceProbes } from '../../src/storage/free-space.ts';
import { attachmentOn, nodeNamed, podNamed } from '../support/cluster-objects.ts';
import { EMPTY_NODE, fakeExecutor, result } from '../support/fake-executor.ts';
import { fakeIo, stowage, type World } from '../support/fake-io.ts';
import { expectSchema, PAGE } from '../support/output-page.ts';
import { claimNamed, SNAPSHOT } from '../support/snapshots.ts';
import { classNamed, ready, volumeNamed } from '../support/volumes.ts';

const failed = volumeNamed('a', {
  phase: 'Failed',
  ...ready('False', 'CreationError', 'it broke'),
});
const free = Object.fromEntries(
  freeSpaceProbes('/var/lib/metalk8s/storage/sparse').map(({ name }) => [
    name,
    result(0, '1|4096'),
  ]),
);
const world = (more: World = {}): World => ({
  objects: {
    'nodes/n1': nodeNamed('n1', { annotations: { 'stowage.dev/address': '10.0.0.1' } }),
    'nodes/n2': nodeNamed('n2'),
    'volumes/a': failed,
    'volumes/b': volumeNamed('b', {
      phase: 'Available',
      deviceName: 'loop3',
      ...ready('True', 'Available'),
      attachments: [
        attachmentOn('n1', { state: 'Uncertain', pods: ['db/p'], message: 'node n1 is away' }),
      ],
    }),
    'pods/p': {
      ...podNamed('p', 'db', {
        volumes: [{ name: 'x', persistentVolumeClaim: { claimName: 'none' } }],
      }),
      status: { phase: 'Pending' },
    } as Pod,
    'pods/ended': { ...podNamed('ended', 'db'), status: { phase: 'Succeeded' } } as Pod,
    'persistentvolumeclaims/foo-testing': claimNamed('foo-testing'),
    'volumesnapshots/foo-backup': SNAPSHOT,
    'storageclasses/fast': classNamed('fast'),
    'customresourcedefinitions/volumes.storage.metalk8s.scality.com': VOLUME_CRD,
  },
  executor: fakeExecutor({
    n1: { probes: { ...EMPTY_NODE, ...free } },
    n2: new NodeError('unreachable', 'n2', 'node n2 is away'),
  }),
  ...more,
});

const CREATE = 'create volume new --size 1Gi --storage-class fast';

describe('the output schema', () => {
  test.each<[string, string, 'one' | 'items']>([
    ['node', 'get nodes', 'items'],
    ['node', 'get nodes n1', 'one'],
    ['node', 'get nodes n1 n2', 'items'],
    ['attachment', 'get attachments', 'items'],
    ['attachment', 'get attachments b', 'items'],
    ['why', 'why pod db/p', 'one'],
    ['why', 'why pod db/ended', 'one'],
    ['why', 'why volume a', 'one'],
    ['why', 'why volume b', 'one'],
    ['why', 'why pvc test/foo-testing', 'one'],
    ['why', 'why snapshot prod/foo-backup', 'one'],
    ['why', 'why node n1', 'one'],
    ['plan', `${CREATE} --node n1 --dry-run=plan`, 'one'],
    ['plan', `${CREATE} --node n{1,1} --dry-run=plan`, 'one'],
    ['cluster', 'check cluster', 'one'],
    ['version', 'version', 'one'],
    ['version', 'version --client', 'one'],
  ])('`%s` describes the output of `%s`', async (name, line, shape) => {
    for (const [format, read] of [
      ['json', (text: string) => JSON.parse(text)],
      ['yaml', parse],
    ] as const) {
      const { out } = await stowage([...line.split(' '), '-o', format], world());
      const data = read(out);
      if (shape === 'one') expectSchema(name, data);
      else {
        expect(Object.keys(data)).toEqual(['items']);
        expect(data.items.length).toBeGreaterThan(0);
        for (const item of data.items) expectSchema(name, item);
      }
    }
  });

  test.each([
    'get volume nowhere',
    'get volumes a nowhere',
    'get volumez',
    'get volumes --sort-by nothing',
    'detach volume a --node n1',
    'detach volume b --node n1 --force',
    'delete volume nowhere nobody',
    'version --frob',
    `${CREATE} --node n2 --dry-run=plan`,
  ])('`error` describes the failure of `%s`', async (line) => {
    const { code, err } = await stowage([...line.split(' '), '-o', 'json'], world());
    expect(code).toBeGreaterThan(0);
    expectSchema('error', JSON.parse(err));
  });
});

describe('Kubernetes objects in the output', () => {
  test.each<[string, object]>([
    ['get volume a', failed],
    ['delete volume a', failed],
    ['get volumes a b', { apiVersion: 'v1', kind: 'List', items: [failed, { kind: 'Volume' }] }],
    ['delete volumes a b', { apiVersion: 'v1', kind: 'List', items: [failed, { kind: 'Volume' }] }],
    [`${CREATE} --node n1`, { kind: 'Volume', metadata: { name: 'new' } }],
    [`${CREATE} --node n{1,2}`, { apiVersion: 'v1', kind: 'List', items: [{}, {}] }],
    ['create storageclass slow --static', { kind: 'StorageClass', metadata: { name: 'slow' } }],
    ['get snapshot foo-backup -n prod', SNAPSHOT],
    [
      'create snapshot prod/s --pvc foo-testing',
      { kind: 'VolumeSnapshot', metadata: { name: 's' } },
    ],
  ])('are as the server returns them: %s', async (line, wanted) => {
    const json = await stowage([...line.split(' '), '-o', 'json'], world());
    expect(json).toMatchObject({ code: 0, err: '' });
    expect(JSON.parse(json.out)).toMatchObject(wanted);
    const yaml = await stowage([...line.split(' '), '-o', 'yaml'], world());
    expect(parse(yaml.out)).toEqual(JSON.parse(json.out));
    const names = await stowage([...line.split(' '), '-o', 'name'], world());
    expect(names.out).toMatch(
      /^((volume\.storage\.metalk8s\.scality\.com|storageclass\.storage\.k8s\.io|volumesnapshot\.snapshot\.storage\.k8s\.io)\/\w[\w-]*\n)+$/,
    );
  });
});

const JSON_PATH = 'jsonpath=TEMPLATE';

function takesJsonPath({ parseArg }: Option): boolean {
  try {
    return parseArg?.(JSON_PATH, undefined) === JSON_PATH;
  } catch {
    return false;
  }
}

test('docs/output.md lists the formats of every command', () => {
  const said = new Map(
    [...PAGE.matchAll(/^\| (`.+`) \| (`.+`) \|$/gm)].flatMap(([, commands = '', formats = '']) =>
      [...commands.matchAll(/`([^`]+)`/g)].map(([, command = '']) => [
        command,
        [...formats.matchAll(/`([\w=]+)`/g)].map(([, format]) => format),
      ]),
    ),
  );
  const found = new Map<string, readonly string[]>();
  const collect = (command: Command, path: string[]) => {
    const output = command.options.find(({ long }) => long === '--output');
    if (output !== undefined) {
      const formats = [...(output.argChoices ?? []), ...(takesJsonPath(output) ? [JSON_PATH] : [])];
      found.set(path.join(' ').replace('manifest', '-f'), formats);
    }
    for (const inner of command.commands) collect(inner, [...path, inner.name()]);
  };
  collect(createProgram(fakeIo().io), []);
  for (const [command, formats] of found) {
    expect({ command, formats: said.get(command)?.toSorted() }).toEqual({
      command,
      formats: formats.toSorted(),
    });
  }
});
