import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { execa } from 'execa';
import { ALL_CRDS } from '../../src/api/crds.ts';
import type { KubeObject, Resource } from '../../src/api/meta.ts';
import {
  NAMESPACES,
  NODES,
  PERSISTENT_VOLUME_CLAIMS,
  POPULATOR_DEFINITIONS,
  REFERENCE_GRANTS,
  STORAGE_CLASSES,
  VOLUME_POPULATORS,
  VOLUME_SNAPSHOT_CONTENTS,
  VOLUME_SNAPSHOTS,
  VOLUMES,
} from '../../src/api/resources.ts';
import { connect } from '../../src/kube/connect.ts';
import type { KubeClient } from '../../src/kube/types.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/server.ts';
import { HELLO_CRD } from '../support/hello.ts';
import { CONTENT, claimNamed, fresh, SNAPSHOT } from '../support/snapshots.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { onTerminal, type Typed } from '../support/terminal.ts';
import { classNamed, volumeNamed } from '../support/volumes.ts';

/**
 * Prompts on a real terminal, with a cluster in memory whose node n1 is this machine. The node is
 * observed, but not changed.
 */

let sandbox: Sandbox;
let client: KubeClient;
let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
let env: Record<string, string>;

beforeAll(async () => {
  folder = await temporaryDirectory('wizard');
});
afterAll(() => folder.remove());

beforeEach(async () => {
  sandbox = await startSandbox({
    crds: [...ALL_CRDS, HELLO_CRD],
    featureGates: { CrossNamespaceVolumeDataSource: true },
  });
  const kubeconfig = join(folder.path, 'kubeconfig');
  await writeFile(kubeconfig, sandbox.kubeconfig, { mode: 0o600 });
  env = { KUBECONFIG: kubeconfig, HOME: folder.path };
  ({ client } = await connect({ kubeconfig }));
  const object = (kind: string, name: string) => ({ apiVersion: 'v1', kind, metadata: { name } });
  for (const name of ['prod', 'test'])
    await client.create<KubeObject>(NAMESPACES, object('Namespace', name));
  await client.create<KubeObject>(NODES, object('Node', 'n1'));
  await client.create<KubeObject>(
    STORAGE_CLASSES,
    classNamed('local', { parameters: { fsType: 'ext4' } }),
  );
  const fast = classNamed('fast', {
    provisioner: 'volume.stowage.dev',
    parameters: { type: 'sparse', fsType: 'xfs' },
  });
  await client.create<KubeObject>(STORAGE_CLASSES, fast);
  await client.create<KubeObject>(PERSISTENT_VOLUME_CLAIMS, fresh(claimNamed('foo', {}, 'prod')));
  for (const [resource, made] of [
    [VOLUME_SNAPSHOTS, SNAPSHOT],
    [VOLUME_SNAPSHOT_CONTENTS, CONTENT],
  ] as const) {
    const { metadata } = await client.create<KubeObject>(resource, fresh(made));
    const { namespace } = metadata;
    await client.patch(
      resource,
      metadata.name,
      { status: made.status ?? {} },
      { namespace, subresource: 'status' },
    );
  }
});
afterEach(() => sandbox.stop());

const LOCAL = '--transport local --local-node n1';
const names = async (resource: Resource, namespace?: string): Promise<string[]> =>
  (await client.list<KubeObject>(resource, { namespace })).items.map(
    ({ metadata }) => metadata.name,
  );

/** Prompts of each command, the answers, and the place of the created object. */
const WIZARDS: Record<
  string,
  {
    command: string;
    typed: Typed[];
    made: [resource: Resource, name: RegExp, namespace?: string];
    says: RegExp[];
  }
> = {
  'create volume': {
    command: `create volume ${LOCAL}`,
    typed: [
      ['Name of the Volume:', 'data1\r'],
      ['Node that holds the storage:', '\r'],
      ['Kind of storage:', '\r'],
      ['Size, such as 10Gi:', '1Gi\r'],
      ['Storage class:', '\r'],
      ['When to attach the device to its node:', 'while\r'],
      ['Create it?', 'y\r'],
    ],
    made: [VOLUMES, /^data1$/],
    says: [/n1 +[0-9.]+[KMGT]i free in/, /create the ext4 file system/],
  },
  'create storageclass': {
    command: 'create storageclass',
    typed: [
      ['Name of the storage class:', 'slow\r'],
      ['Kind of class:', '\r'],
      ['Kind of storage:', '\r'],
      ['Directory of the files', '/srv/volumes\r'],
      ['What to do with a volume', '\r'],
      ['When to attach the device to its node:', '\r'],
      ['File system:', 'xfs\r'],
      ['Make it the default for claims', '\r'],
      ['Create it?', 'y\r'],
    ],
    made: [STORAGE_CLASSES, /^slow$/],
    says: [/provisioner: volume\.stowage\.dev/],
  },
  'grant snapshot': {
    command: 'grant snapshot',
    typed: [
      ['VolumeSnapshot:', '\r'],
      ['Namespace that may use it:', 'test\r'],
      ['What may use it there:', '\r'],
      ['Grant it?', 'y\r'],
    ],
    made: [REFERENCE_GRANTS, /^foo-backup-to-test-/, 'prod'],
    says: [/VolumeSnapshot prod\/foo-backup may be used in namespace test/],
  },
  'restore snapshot': {
    command: 'restore snapshot',
    typed: [
      ['VolumeSnapshot:', '\r'],
      ['Namespace of the new claim:', 'test\r'],
      ['Name of the new claim:', 'foo-testing\r'],
      ['Size of the claim', '\r'],
      ['Create it?', 'y\r'],
    ],
    made: [PERSISTENT_VOLUME_CLAIMS, /^foo-testing$/, 'test'],
    says: [/dataSourceRef:/, /stowage grant snapshot prod\/foo-backup --to test/],
  },
  'register populator': {
    command: 'register populator',
    typed: [
      ['Kind that claims name:', '\r'],
      ['Name to register it under:', 'hello\r'],
      ['Image of the container', 'hello:1\r'],
      ['Argument, such as', '--file={.spec.fileName}\r'],
      ['Next argument', '\r'],
      ['Mount path of a file system', '/mnt\r'],
      ['Device path of a Block volume', '\r'],
      ['Register it?', 'y\r'],
    ],
    made: [POPULATOR_DEFINITIONS, /^hello$/],
    says: [/kind: PopulatorDefinition/],
  },
};

describe.each(Object.entries(WIZARDS))(
  '%s',
  (_name, { command, typed, made: [resource, name, namespace], says }) => {
    test('prompts, previews and creates the object, as the equivalent command does', async () => {
      const { exitCode, shown } = await onTerminal(`bin/stowage ${command} --no-color`, typed, {
        env,
        columns: 250,
        rows: 50,
      });
      expect({ exitCode, shown }).toMatchObject({ exitCode: 0 });
      for (const text of says) expect(shown).toMatch(text);
      const [made = ''] = (await names(resource, namespace)).filter((each) => name.test(each));
      expect(made).not.toBe('');
      const asked = await client.get<KubeObject>(resource, made, { namespace });
      await client.delete(resource, made, { namespace });

      const [, line = ''] = /Equivalent command:\s+(stowage .*?)\r?\n/.exec(shown) ?? [];
      const told = await execa('sh', ['-c', line.replace(/^stowage/, 'bin/stowage')], {
        env,
        reject: false,
      });
      expect({ line, ...told }).toMatchObject({ exitCode: 0 });
      expect(essence(await client.get<KubeObject>(resource, made, { namespace }))).toEqual(
        essence(asked),
      );
    });

    test('Ctrl-C at any question leaves nothing', async () => {
      for (const [index, [question]] of typed.entries()) {
        const before = await names(resource, namespace);
        const { exitCode, shown } = await onTerminal(
          `bin/stowage ${command}`,
          [...typed.slice(0, index), [question, '\u0003']],
          { env, columns: 250, rows: 50 },
        );
        expect({ question, exitCode }).toEqual({ question, exitCode: 130 });
        expect(await names(resource, namespace)).toEqual(before);
        // The cursor is visible again.
        expect(shown.lastIndexOf('\u001b[?25h')).toBeGreaterThanOrEqual(
          shown.lastIndexOf('\u001b[?25l'),
        );
      }
    });

    test('creates nothing if the confirmation is declined', async () => {
      const before = await names(resource, namespace);
      const last = typed.at(-1)?.[0] ?? '';
      const { exitCode, shown } = await onTerminal(
        `bin/stowage ${command}`,
        [...typed.slice(0, -1), [last, '\r']],
        {
          env,
          columns: 250,
          rows: 50,
        },
      );
      expect({ exitCode, shown }).toMatchObject({
        exitCode: 5,
        shown: expect.stringContaining('nothing was done'),
      });
      expect(await names(resource, namespace)).toEqual(before);
    });

    test('does not prompt without a terminal', async () => {
      const words = command.replace(` ${LOCAL}`, '').split(' ');
      const { exitCode, stderr } = await execa('bin/stowage', words, {
        env,
        reject: false,
        input: '',
      });
      expect({ exitCode, stderr }).toMatchObject({
        exitCode: 2,
        stderr: expect.stringMatching(/^error: missing: NAME/),
      });
    });
  },
);

/** Returns the requested fields, without those that the server or the time adds. */
const essence = ({ metadata: { name, namespace, annotations, labels }, ...rest }: KubeObject) => {
  const { status: _, ...asked } = rest as typeof rest & { status?: unknown };
  return { name, namespace, annotations, labels, ...asked };
};

/** Commands that are refused, with exit status 5, after all prompts but the last are answered. */
const REFUSED: Record<
  string,
  { command: string; typed: Typed[]; says: string; resource: Resource }
> = {
  'an existing Volume': {
    command: `create volume taken --node n1 --type sparse --size 1Gi ${LOCAL}`,
    typed: [['Storage class:', '\r']],
    says: '"taken" already exists',
    resource: VOLUMES,
  },
  'an existing class': {
    command: 'create storageclass local',
    typed: [
      ['Kind of class:', 'static\r'],
      ['File system:', '\r'],
    ],
    says: 'StorageClass local already exists, with provisioner kubernetes.io/no-provisioner',
    resource: STORAGE_CLASSES,
  },
  'an existing claim': {
    command: 'restore snapshot --to prod/foo',
    typed: [
      ['VolumeSnapshot:', '\r'],
      ['Size of the claim', '\r'],
    ],
    says: 'already exists',
    resource: PERSISTENT_VOLUME_CLAIMS,
  },
  'a name registered for another kind': {
    command:
      'register populator hello --group hello.example.com --kind Hello --mount-path /mnt --arg=x',
    typed: [['Image of the container', 'hello:1\r']],
    says: 'VolumePopulator hello already exists, for Other',
    resource: POPULATOR_DEFINITIONS,
  },
};

test.each(Object.entries(REFUSED))(
  '%s is reported before anything is created',
  async (_name, refused) => {
    const { command, typed, says, resource } = refused;
    await client.create<KubeObject>(VOLUME_POPULATORS, {
      apiVersion: 'populator.storage.k8s.io/v1beta1',
      kind: 'VolumePopulator',
      metadata: { name: 'hello' },
      sourceKind: { group: 'other.example.com', kind: 'Other' },
    } as KubeObject);
    await client.create<KubeObject>(VOLUMES, fresh(volumeNamed('taken')));
    const before = await names(resource);
    const { exitCode, shown } = await onTerminal(`bin/stowage ${command}`, typed, {
      env,
      columns: 250,
      rows: 50,
    });
    expect({ exitCode, shown }).toMatchObject({
      exitCode: 5,
      shown: expect.stringContaining(says),
    });
    expect(shown).not.toMatch(/(Create|Register) it\?/);
    expect(await names(resource)).toEqual(before);
  },
);

test('a claim smaller than its snapshot is refused at the prompt', async () => {
  const { exitCode, shown } = await onTerminal(
    'bin/stowage restore snapshot --to test/small',
    [
      ['VolumeSnapshot:', '\r'],
      ['Size of the claim', '1Mi\r'],
      ['The snapshot needs 1Gi', '\u0003'],
    ],
    { env, columns: 250, rows: 50 },
  );
  expect({ exitCode, shown }).toMatchObject({ exitCode: 130 });
});
