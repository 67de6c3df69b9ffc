import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { Lease, PersistentVolume } from '../../../src/api/core.ts';
import type { KubeObject } from '../../../src/api/meta.ts';
import {
  CUSTOM_RESOURCE_DEFINITIONS,
  LEASES,
  NODES,
  PERSISTENT_VOLUME_CLAIMS,
  PERSISTENT_VOLUMES,
  STORAGE_CLASSES,
  VOLUMES,
} from '../../../src/api/resources.ts';
import type { Volume } from '../../../src/api/volume.ts';
import { CALLER_RULES } from '../../../src/cli/check-cluster/caller-rules.ts';
import { helpLines } from '../../../src/cli/lib/checks/text.ts';
import { run } from '../../../src/cli/run.ts';
import { createClient } from '../../../src/kube/client.ts';
import { connect } from '../../../src/kube/connect.ts';
import type { KubeClient } from '../../../src/kube/types.ts';
import { sparseVolume, startCluster, type TestCluster } from '../../support/cluster.ts';
import { NOW, nodeNamed } from '../../support/cluster-objects.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { fakeIo, type World } from '../../support/fake-io.ts';
import { recordingTransport } from '../../support/recording-transport.ts';
import { refusing } from '../../support/refusals.ts';
import { until } from '../../support/until.ts';
import { onNode } from '../../support/volumes.ts';
import { willingNodes } from '../../support/willing-node.ts';

interface Review {
  spec: { resourceAttributes: { resource: string; verb: string } };
}

let cluster: TestCluster;
let client: KubeClient;
beforeEach(async () => {
  cluster = await startCluster();
  client = cluster.client;
});
afterEach(() => cluster.stop());

async function stowage(argv: string[], through = client, world: World = {}) {
  const { io, outcome } = fakeIo(world);
  const code = await run(argv, {
    ...io,
    clock: world.clock ?? new FakeClock(),
    connect: async (options) => ({ ...(await io.connect(options)), client: through }),
  });
  return { code, out: outcome.out, err: outcome.err };
}
/** Returns the Lease of a daemon that leads. */
const lead = async () => {
  const lease: Lease = {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: 'stowage' },
    spec: {
      holderIdentity: 'host_1',
      leaseDurationSeconds: 15,
      renewTime: new Date(NOW).toISOString().replace('Z', '000Z'),
    },
  };
  await client.create(LEASES, lease, { namespace: 'default' });
};

test('check cluster reports OK for each check of a healthy cluster', async () => {
  await lead();
  const { code, out, err } = await stowage(['check', 'cluster']);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  const lines = out.trimEnd().split('\n');
  expect(lines[0]).toMatch(/^CHECK +RESULT +WHAT$/);
  expect(lines.slice(1).map((line) => line.split(/ {2,}/)[0])).toEqual([
    ...[
      'server',
      'definition',
      'definition',
      'definition',
      'permissions',
      'daemon',
      'storage class',
    ],
  ]);
  expect(lines.slice(1).every((line) => / OK +/.test(line))).toBe(true);
});

test('check cluster reports each problem of an empty cluster with its fix', async () => {
  for (const resource of [CUSTOM_RESOURCE_DEFINITIONS, STORAGE_CLASSES]) {
    for (const { metadata } of (await client.list<KubeObject>(resource)).items) {
      await client.delete(resource, metadata.name);
    }
  }
  const { code, out, err } = await stowage(['check', 'cluster']);
  expect(code).toBe(5);
  expect(err).toContain('5 problems in the cluster https://cluster.example');
  expect(out).toContain('\n# Fixes:\n');
  expect(out).toContain('\nstowage install --components crds\n');
  expect(out).toContain('\nstowage create storageclass local --static --fs-type ext4\n');
  const data = JSON.parse((await stowage(['check', 'cluster', '-o', 'json'])).out);
  expect(data.checks.filter(({ ok }: { ok: boolean }) => !ok)).toHaveLength(5);
});

test('check cluster reports permissions that the caller lacks', async () => {
  await lead();
  const refused: KubeClient = {
    ...refusing('list', 403, { resource: LEASES, message: 'leases is forbidden' })(client),
    create: async (resource, object, options) => {
      const answer = await client.create(resource, object, options);
      const { resource: of, verb } = (object as unknown as Review).spec.resourceAttributes;
      const allowed = !(of === 'volumes' && (verb === 'create' || verb === 'delete'));
      return { ...answer, status: { allowed } };
    },
  };
  const { code, out } = await stowage(['check', 'cluster', '-o', 'json', '--context=a b'], refused);
  expect(code).toBe(5);
  const { checks } = JSON.parse(out);
  expect(checks.filter(({ ok }: { ok: boolean }) => !ok)).toEqual([
    {
      check: 'permissions',
      ok: false,
      message: 'you may not create, delete volumes.storage.metalk8s.scality.com',
      hint: expect.any(String),
      command:
        "kubectl --context 'a b' create clusterrole stowage-user-volumes --verb=create,delete --resource=volumes.storage.metalk8s.scality.com",
    },
    {
      check: 'daemon',
      ok: false,
      message: 'not checked: leases is forbidden',
      hint: expect.any(String),
    },
  ]);
});

test('check cluster adds the cluster of the run to hints', async () => {
  const unknown = refusing('list', 404, { resource: LEASES })(client);
  const { out } = await stowage(['check', 'cluster', '-o', 'json', '--context', 'c'], unknown);
  const { checks } = JSON.parse(out);
  expect(checks.find(({ check }: { check: string }) => check === 'daemon').hint).toMatch(
    /: stowage --context c install --components crds$/,
  );
});

test('check cluster fails if the server does not answer', async () => {
  const { code, err } = await stowage(['check', 'cluster'], client, {
    serverVersion: new Error('connection refused'),
  });
  expect({ code, err }).toEqual({ code: 1, err: 'error: connection refused\n' });
});

/** Binds a claim to the Volume. */
async function claim({ apiVersion, kind, metadata }: Volume): Promise<void> {
  const owner = {
    apiVersion,
    kind,
    name: metadata.name,
    uid: metadata.uid ?? '',
    controller: true,
  };
  const accessModes = ['ReadWriteOnce'];
  const pv: PersistentVolume = {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: metadata.name, ownerReferences: [owner] },
    spec: {
      capacity: { storage: '1Gi' },
      accessModes,
      local: { path: '/x' },
      nodeAffinity: onNode('n2'),
      claimRef: { namespace: 'default', name: 'c' },
    },
  };
  const pvc = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'c' } };
  const spec = {
    accessModes,
    resources: { requests: { storage: '1Gi' } },
    volumeName: metadata.name,
  };
  await client.create(PERSISTENT_VOLUMES, pv);
  await client.create<KubeObject>(PERSISTENT_VOLUME_CLAIMS, { ...pvc, spec } as KubeObject, {
    namespace: 'default',
  });
}

test('check cluster checks exactly the permissions that commands use', async () => {
  const { transport } = await connect({ kubeconfig: cluster.kubeconfig });
  const { transport: recorded, used } = recordingTransport(transport);
  const recording = createClient(recorded);
  const nodes = { transport: 'ssh' as const, executor: willingNodes(1 << 30) };
  const manifest = JSON.stringify({
    ...{ apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', metadata: { name: 'c' } },
    provisioner: 'kubernetes.io/no-provisioner',
  });
  await client.create(NODES, nodeNamed('n1'));
  await client.create(VOLUMES, sparseVolume('b', 'n2', '1Gi'));
  await claim(await client.create(VOLUMES, sparseVolume('used', 'n2', '1Gi')));
  const volume = ['--node', 'n1', '--size', '1Gi', '--storage-class', 'local'];
  const commands: [string[], World?][] = [
    [['create', 'storageclass', 'a', '--static']],
    [['create', 'volume', 'a', ...volume, '--wait', '--timeout', '1s'], { clock: new FakeClock() }],
    [['create', 'volume', 'x', ...volume, '--dry-run=plan'], nodes],
    // The error lists the existing classes.
    [['create', 'volume', 'x', '--node', 'n1', '--size', '1Gi']],
    [['create', '-f', '-'], { stdin: manifest }],
    [['delete', '-f', '-', '--yes'], { stdin: manifest }],
    [['get', 'volumes']],
    [['get', 'volumes', 'a']],
    [['get', 'nodes'], nodes],
    [['describe', 'volume', 'used']],
    [['why', 'volume', 'a']],
    [['check', 'node', 'n1'], nodes],
    [['delete', 'volume', 'b', '--forget-node', '--yes']],
    [['delete', 'volume', 'a', '--yes']],
  ];
  const isWatched = () => [...used].some((use) => use.startsWith('watch volumes.'));
  const ended: string[] = [];
  for (const [argv, world] of commands) {
    const running = stowage(argv, recording, world);
    if (world?.clock) {
      await until('the Volume is watched', async () => isWatched() || undefined);
      await world.clock.advance(1000);
    }
    const { code, err } = await running;
    ended.push(`${argv.join(' ')}: ${code} ${err}`);
  }
  const allowed = CALLER_RULES.flatMap(({ group, resource, verbs }) =>
    verbs.map((verb) => `${verb} ${resource}.${group}`),
  );
  const asked = [...used].map((use) => use.replace(/ in .*/, ''));
  expect({ missing: asked.filter((use) => !allowed.includes(use)), ended }).toEqual({
    missing: [],
    ended,
  });
  expect({ unused: allowed.filter((right) => !asked.includes(right)), ended }).toEqual({
    unused: [],
    ended,
  });
});

test('a fix that several problems share is printed once', () => {
  const problem = (message: string) => ({
    ...{ check: 'crds', ok: false, message },
    ...{ hint: 'Install the CRDs.', command: 'stowage install --components crds' },
  });
  const other = { check: 'rights', ok: false, message: 'c', hint: 'Ask an administrator.' };
  expect(helpLines('Fixes:', [problem('a'), other, problem('b')])).toBe(
    [
      ...['', '# Fixes:', '', '# a', '# b', '# Install the CRDs.'],
      ...['stowage install --components crds', '', '# c', '# Ask an administrator.', ''],
    ].join('\n'),
  );
});
