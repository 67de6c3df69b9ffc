import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { execa } from 'execa';
import { parseAllDocuments } from 'yaml';
import type {
  KubeEvent,
  KubeNode,
  PersistentVolumeClaim,
  Pod,
  StorageClass,
} from '../../src/api/core.ts';
import type { Leftover } from '../../src/api/leftover.ts';
import type { KubeObject } from '../../src/api/meta.ts';
import { DRIVER, PAUSED_ANNOTATION, STOWAGE_API_VERSION } from '../../src/api/names.ts';
import {
  CSI_DRIVERS,
  EVENTS,
  LEFTOVERS,
  NODES,
  PERSISTENT_VOLUME_CLAIMS,
  PODS,
  STORAGE_CLASSES,
  VOLUMES,
} from '../../src/api/resources.ts';
import type { Volume } from '../../src/api/volume.ts';
import type { Rule } from '../../src/cli/install/rules.ts';
import { createRepository, type Repository } from '../support/checkout.ts';
import { createNode } from '../support/claim-objects.ts';
import { sparseVolume, startCluster, type TestCluster } from '../support/cluster.ts';
import { readBlocks } from '../support/documents/page.ts';
import { onTerminal } from '../support/terminal.ts';
import { ensureUdev } from '../support/udev.ts';
import { until } from '../support/until.ts';

/** Diffs of docs/extending.md, to be applied in sequence to a copy of the checkout. */

const DIFFS = readBlocks('docs/extending.md').filter(({ language }) => language === 'diff');

const NODE = ['node', '--import', './scripts/loaders/node.mjs', 'src/main.ts'];
const PAUSED = { [PAUSED_ANNOTATION]: 'true' };

let repository: Repository;
let cluster: TestCluster;

beforeAll(async () => {
  repository = await createRepository();
});
afterAll(() => repository?.remove());
beforeEach(async () => {
  cluster = await startCluster();
});
afterEach(() => cluster.stop());

/** Runs the daemon of the copy until `seen` returns a value for its log, and returns that value. */
async function whileWatching<T>(
  flags: readonly string[],
  seen: (log: string) => Promise<T | undefined>,
): Promise<T> {
  const { kubeconfig } = cluster;
  const [program = '', ...args] = [...NODE, '--kubeconfig', kubeconfig, 'watch', ...flags];
  const daemon = execa(program, args, {
    cwd: repository.path,
    all: true,
    reject: false,
    env: { NODE_OPTIONS: '' },
  });
  let hasEnded = false;
  void daemon.then(() => {
    hasEnded = true;
  });
  let log = '';
  daemon.all.on('data', (chunk) => {
    log += chunk;
  });
  try {
    return await until(`watch ${flags.join(' ')}`, () => {
      if (hasEnded) throw new Error(log);
      return seen(log);
    });
  } finally {
    daemon.kill('SIGTERM');
    expect((await daemon).exitCode).toBe(0);
  }
}

const unitTest = (file: string) =>
  repository.run(
    'node',
    '--experimental-vm-modules',
    'node_modules/jest/bin/jest.js',
    ...['--selectProjects', 'unit', '--runTestsByPath', file],
  );

/** Purpose of each diff, by its heading. */
const CLAIMS: Readonly<Record<string, () => Promise<void>>> = {
  async 'Add a command'() {
    const leftover: Leftover = {
      apiVersion: STOWAGE_API_VERSION,
      kind: LEFTOVERS.kind,
      metadata: { name: 'uid-of-data1' },
      spec: {
        ...sparseVolume('data1', 'n1', '1Gi').spec,
        volumeName: 'data1',
        uid: 'uid-of-data1',
      },
    };
    await cluster.client.create(LEFTOVERS, leftover);
    const command = `cd ${repository.path} && exec ${NODE.join(' ')} get leftovers`;
    const env = { KUBECONFIG: cluster.kubeconfig, NODE_OPTIONS: '' };
    const { exitCode, shown } = await onTerminal(`sh -c '${command}'`, [], { env });
    expect({ exitCode, lines: shown.trim().split(/\r?\n/) }).toEqual({
      exitCode: 0,
      lines: [
        expect.stringMatching(/^VOLUME +NODE +STATUS$/),
        expect.stringMatching(/^data1 +n1 +<none>$/),
      ],
    });
    expect(await repository.run('git', 'status', '--porcelain')).toContain(
      '?? man/stowage-get-leftovers.1',
    );
  },

  async 'Add a metric'() {
    const { metadata, ...rest } = sparseVolume('data1', 'n1', '1Gi');
    const paused = { ...rest, metadata: { ...metadata, annotations: PAUSED } };
    await cluster.client.create(VOLUMES, paused);
    const flags = ['--controllers', 'leftover', '--http-endpoint', '127.0.0.1:0'];
    const line = await whileWatching(flags, async (log) => {
      const [, port] = /"port":(\d+)/.exec(log) ?? [];
      if (port === undefined) return undefined;
      const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
      return /^stowage_volumes_paused\{.*$/m.exec(text)?.[0];
    });
    expect(line).toBe('stowage_volumes_paused{node="n1"} 1');
    await unitTest('test/manager/metrics/documented.test.ts');
  },

  async 'Add a controller'() {
    for (const [name, annotations] of [
      ['n1', PAUSED],
      ['n2', {}],
    ] as const) {
      const node: KubeNode = { apiVersion: 'v1', kind: 'Node', metadata: { name, annotations } };
      await cluster.client.create(NODES, node);
    }
    const events = await whileWatching(['--controllers', 'paused-node'], async () => {
      const { items } = await cluster.client.list<KubeEvent>(EVENTS, { namespace: 'default' });
      return items.length === 0 ? undefined : items;
    });
    expect(events).toMatchObject([
      { involvedObject: { kind: 'Node', name: 'n1' }, type: 'Warning', reason: 'Paused' },
    ]);
    const help = await repository.run(...program('watch', '--help'));
    expect(help.replaceAll(/\s+/g, ' ')).toContain(', paused-node;');
  },

  async 'Add a right'() {
    for (const text of [
      await repository.run(...program('install', '--dry-run=client')),
      await repository.run('cat', 'deploy/daemon.yaml'),
    ]) {
      const objects = parseAllDocuments(text).map((document) => document.toJS() as Role);
      const role = objects.find(({ kind, metadata: { name } }) => `${kind} ${name}` === OWN_ROLE);
      const rules = role?.rules?.filter(({ resources }) => resources.includes('csidrivers'));
      expect(rules).toMatchObject([{ verbs: ['create', 'patch'] }]);
    }
    await unitTest('test/cli/install/rules.test.ts');
    await unitTest('test/cli/install/least-privilege.test.ts');

    const { client } = cluster;
    const driver = { metadata: { name: DRIVER }, spec: { storageCapacity: false } };
    await client.create<Driver>(CSI_DRIVERS, {
      ...driver,
      ...{ apiVersion: 'storage.k8s.io/v1', kind: 'CSIDriver' },
    });
    await client.create<KubeNode>(NODES, {
      ...{ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } },
    });
    await client.create<StorageClass>(STORAGE_CLASSES, {
      ...{ apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', metadata: { name: 'dynamic' } },
      ...{ provisioner: DRIVER, volumeBindingMode: 'WaitForFirstConsumer' },
    });
    await whileWatching(
      ['--controllers', 'claim', '--transport', 'local', '--local-node', 'n1'],
      async () => {
        const { spec } = await client.get<Driver>(CSI_DRIVERS, DRIVER);
        return spec.storageCapacity || undefined;
      },
    );
  },

  async 'Add a storage kind'() {
    const { client } = cluster;
    const stopUdev = await ensureUdev();
    await createNode(client, 'n1');
    await execa('mount', ['--mkdir', '-t', 'tmpfs', '-o', 'size=64m', 'stowage-test', MEMORY]);
    try {
      const { spec, ...rest } = sparseVolume('data1', 'n1', '16Mi');
      const { sparseLoopDevice: tmpfs, ...others } = spec;
      const onDemand = { ...others, attachPolicy: 'OnDemand' as const, tmpfs };
      await client.create<KubeObject>(VOLUMES, { ...rest, spec: onDemand } as KubeObject);
      const attachments = async () =>
        ((await client.get<Volume>(VOLUMES, 'data1')).status?.attachments ?? []).length;
      await whileWatching(['--transport', 'local', '--local-node', 'n1'], async () => {
        await until('the Volume is Available', async () => {
          const { status } = await client.get<Volume>(VOLUMES, 'data1');
          return status?.phase === 'Available' ? true : undefined;
        });
        await client.create(PERSISTENT_VOLUME_CLAIMS, claimOf('data1'), NAMESPACE);
        await client.create(PODS, podWith('data1'), NAMESPACE);
        await until('data1 attached', async () => ((await attachments()) === 1 ? true : undefined));
        const command = program('--kubeconfig', cluster.kubeconfig, 'get', 'volumes');
        expect(await repository.run(...command)).toMatch(
          /^data1 +n1 +Available +\w+ +loop\d+ +16Mi /m,
        );
        await client.delete(PODS, 'p', NAMESPACE);
        await until('data1 detached', async () => ((await attachments()) === 0 ? true : undefined));
        await client.delete(PERSISTENT_VOLUME_CLAIMS, 'data1', NAMESPACE);
        await client.delete(VOLUMES, 'data1');
        return until('the Volume is gone', async () =>
          (await client.list(VOLUMES)).items.length === 0 ? true : undefined,
        );
      });
      expect(await repository.run('ls', MEMORY)).toBe('');
    } finally {
      await execa('umount', [MEMORY]);
      await stopUdev();
    }
  },
};

const MEMORY = '/srv/memory';
const NAMESPACE = { namespace: 'default' };

const claimOf = (volumeName: string) =>
  ({
    ...{ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: volumeName } },
    spec: {
      ...{ volumeName, storageClassName: 'local', accessModes: ['ReadWriteOnce'] },
      resources: { requests: { storage: '1Mi' } },
    },
  }) as PersistentVolumeClaim;

const podWith = (claimName: string) =>
  ({
    ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' } },
    spec: {
      nodeName: 'n1',
      containers: [{ name: 'c', image: 'x' }],
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName } }],
    },
  }) as Pod;

interface Role extends KubeObject {
  rules?: Rule[];
}

interface Driver extends KubeObject {
  spec: { storageCapacity: boolean };
}

const OWN_ROLE = 'ClusterRole stowage';

const program = (...args: string[]): [string, ...string[]] => [
  NODE[0] as string,
  ...NODE.slice(1),
  ...args,
];

test('each diff of docs/extending.md has a check, and each check has a diff', () => {
  expect(DIFFS.map(({ heading }) => heading)).toEqual(Object.keys(CLAIMS));
});

async function apply(diff: string): Promise<void> {
  await execa('git', ['apply', '--index'], { cwd: repository.path, input: diff });
}

async function reset(): Promise<void> {
  await repository.run('git', 'reset', '--quiet', '--hard');
  await repository.run('git', 'clean', '-d', '--force', '--quiet');
}

describe.each(DIFFS)('$heading', ({ heading, body }) => {
  afterAll(reset);

  test('does what the page describes', async () => {
    await apply(body);
    await repository.run('npm', 'run', '--silent', 'generate');
    await CLAIMS[heading]?.();
  });
});

describe('all diffs together', () => {
  afterAll(reset);

  test('pass the linter and the type check', async () => {
    for (const { body } of DIFFS) await apply(body);
    const changed = await repository.run('git', 'diff', '--cached', '--name-only', '--', '*.ts');
    await repository.run('biome', 'check', '--error-on-warnings', ...changed.split('\n'));
    await repository.run('tsc', '--noEmit');
  });
});
