import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { parseAllDocuments } from 'yaml';
import type { KubeObject, Resource } from '../../../src/api/meta.ts';
import {
  CLUSTER_ROLES,
  CUSTOM_RESOURCE_DEFINITIONS,
  DEPLOYMENTS,
  LEASES,
  NAMESPACES,
  SERVICE_ACCOUNTS,
  VOLUMES,
} from '../../../src/api/resources.ts';
import { createProgram } from '../../../src/cli/program.ts';
import type { KubeClient, ListOptions, WatchOptions } from '../../../src/kube/types.ts';
import { sparseVolume } from '../../support/cluster.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { fakeIo } from '../../support/fake-io.ts';
import { outcomesOf, startInstalling } from '../../support/installing.ts';
import { leadingLease } from '../../support/leading-lease.ts';

const VOLUME_CRD = 'volumes.storage.metalk8s.scality.com';
/**
 * Number of writes for all objects. All except definitions and the namespace are validated by a dry
 * run first. Before the Deployment, a pod is validated, if the user may create pods by a review.
 */
const WRITES = 4 + 2 * 14 + 2;
interface PodSpec {
  containers: { args?: string[] }[];
}
const LABEL = 'app.kubernetes.io/managed-by';

let installing: Awaited<ReturnType<typeof startInstalling>>;
let client: KubeClient;
let { stowage, exists } = {} as typeof installing;

beforeEach(async () => {
  installing = await startInstalling();
  ({ client, stowage, exists } = installing);
});
afterEach(() => installing.stop());

const versionOf = async (resource: Resource, name: string, namespace?: string) =>
  (await client.get<KubeObject>(resource, name, { namespace })).metadata.resourceVersion;

describe('install', () => {
  test('creates all objects, prints a line for each, and is idempotent', async () => {
    await installing.removeDefinitions();
    const first = await stowage(['install']);
    expect({ code: first.code, out: first.out }).toEqual({ code: 0, out: '' });
    expect(first.err.split('\n')).toEqual([
      `customresourcedefinition.apiextensions.k8s.io/${VOLUME_CRD} created`,
      'customresourcedefinition.apiextensions.k8s.io/leftovers.stowage.dev created',
      'customresourcedefinition.apiextensions.k8s.io/populatordefinitions.stowage.dev created',
      'namespace/stowage created',
      'serviceaccount/stowage in namespace stowage created',
      'clusterrole.rbac.authorization.k8s.io/stowage created',
      'clusterrolebinding.rbac.authorization.k8s.io/stowage created',
      'role.rbac.authorization.k8s.io/stowage-leader-election in namespace stowage created',
      'rolebinding.rbac.authorization.k8s.io/stowage-leader-election in namespace stowage created',
      'role.rbac.authorization.k8s.io/stowage-storage-capacity in namespace stowage created',
      'rolebinding.rbac.authorization.k8s.io/stowage-storage-capacity in namespace stowage created',
      'role.rbac.authorization.k8s.io/stowage-population in namespace stowage created',
      'rolebinding.rbac.authorization.k8s.io/stowage-population in namespace stowage created',
      'clusterrole.rbac.authorization.k8s.io/stowage-populator-sources created',
      'clusterrolebinding.rbac.authorization.k8s.io/stowage-populator-sources created',
      'clusterrole.rbac.authorization.k8s.io/stowage-populator-secrets created',
      'networkpolicy.networking.k8s.io/stowage in namespace stowage created',
      'deployment.apps/stowage in namespace stowage created',
      'note: its pod starts once the Secret stowage-ssh exists in that namespace',
      '',
    ]);
    const version = await versionOf(DEPLOYMENTS, 'stowage', 'stowage');
    const second = await stowage(['install']);
    expect(new Set(outcomesOf(second.err))).toEqual(new Set(['unchanged']));
    expect(await versionOf(DEPLOYMENTS, 'stowage', 'stowage')).toBe(version);
  });

  test('waits until CRDs are established before it creates other objects', async () => {
    const seen: string[] = [];
    const slow: KubeClient = {
      ...client,
      async list<T extends KubeObject>(resource: Resource, options?: ListOptions) {
        const page = await client.list<T>(resource, options);
        if (resource !== CUSTOM_RESOURCE_DEFINITIONS) return page;
        return {
          ...page,
          items: page.items.map((item) => ({ ...item, status: { conditions: [] } })),
        };
      },
      async *watch<T extends KubeObject>(resource: Resource, { fieldSelector = '' }: WatchOptions) {
        seen.push(`waits for ${resource.kind}`);
        yield {
          type: 'MODIFIED',
          object: await client.get<T>(resource, fieldSelector.split('=')[1] ?? ''),
        };
      },
      create: (resource, object, options) => {
        seen.push(`creates ${resource.kind}`);
        return client.create(resource, object, options);
      },
    };
    expect((await stowage(['install', '--components', 'crds,rbac'], {}, slow)).code).toBe(0);
    const waits = 'waits for CustomResourceDefinition';
    expect(seen.slice(0, 4)).toEqual([waits, waits, waits, 'creates Namespace']);
  });

  test('takes an image and a namespace', async () => {
    await stowage(['install', '-n', 'storage', '--image', 'stowage:mine']);
    expect(await client.get(DEPLOYMENTS, 'stowage', { namespace: 'storage' })).toMatchObject({
      spec: { template: { spec: { containers: [{ image: 'stowage:mine' }] } } },
    });
  });

  test('keeps the options of earlier runs until --reset-values', async () => {
    const argsOf = async () => {
      const { spec } = await client.get<KubeObject & { spec: { template: { spec: PodSpec } } }>(
        DEPLOYMENTS,
        'stowage',
        { namespace: 'stowage' },
      );
      return spec.template.spec.containers[0]?.args?.slice(4);
    };
    const gate = '--feature-gates=CrossNamespaceVolumeDataSource=true';
    await stowage(['install', gate, '--ssh-secret', 'keys']);
    const asked = ['--ssh-config=/etc/stowage/ssh/config', gate];
    expect(await argsOf()).toEqual(asked);
    // An upgrade with an additional flag.
    expect((await stowage(['install', '--image', 'stowage:next'])).err).toContain(
      'stowage changed',
    );
    expect(await argsOf()).toEqual(asked);
    await stowage(['install', '--controllers', '*,-leftover']);
    expect(await argsOf()).toEqual([asked[0], '--controllers=*,-leftover', gate]);
    // The arguments stay in another namespace, too.
    const moved = await stowage(['install', '-n', 'storage', '--dry-run=server']);
    expect(moved.code).toBe(0);
    // No flag of the earlier transport stays.
    const salt = [
      '--transport',
      'salt',
      '--salt-url',
      'https://salt:8000',
      '--salt-audience',
      'salt-api',
    ];
    await stowage(['install', ...salt]);
    expect(await argsOf()).toEqual(expect.arrayContaining(['--transport=salt', gate]));
    await stowage(['install', '--transport', 'ssh']);
    expect(await argsOf()).toEqual([asked[0], '--controllers=*,-leftover', gate]);
    await stowage(['install', '--reset-values']);
    expect(await argsOf()).toEqual(asked.slice(0, 1));
    expect(new Set(outcomesOf((await stowage(['install'])).err))).toEqual(new Set(['unchanged']));
  });

  test('--reset-values removes options that kubectl applied, and keeps other fields', async () => {
    const salt = ['--transport=salt', '--salt-url=https://salt:8000'];
    const { out } = await stowage([
      'install',
      '--dry-run=client',
      '--components=deployment',
      ...salt,
      '--salt-secret=salt',
    ]);
    const applied = parseAllDocuments(out).map((each) => each.toJS());
    const { metadata, ...deployment } = applied.find(({ kind }) => kind === 'Deployment');
    // An administrator added tolerations, which kubectl recorded with the applied fields.
    deployment.spec.template.spec.tolerations = [{ operator: 'Exists' }];
    const last = {
      'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify({
        metadata,
        ...deployment,
      }),
    };
    await stowage(['install', '--components=rbac']);
    await client.create<KubeObject>(
      DEPLOYMENTS,
      {
        ...deployment,
        metadata: { ...metadata, annotations: { ...metadata.annotations, ...last } },
      },
      { namespace: 'stowage' },
    );
    const asked = async () =>
      JSON.stringify(await client.get(DEPLOYMENTS, 'stowage', { namespace: 'stowage' }));
    await stowage(['install', ...salt, '--salt-audience=salt-api']);
    const { spec } = JSON.parse(await asked());
    expect(spec.template.spec.volumes[0]).toEqual({
      name: 'salt',
      projected: expect.objectContaining({ defaultMode: 0o444 }),
    });
    await stowage(['install', '--reset-values']);
    const { spec: reset, metadata: left } = JSON.parse(await asked());
    expect(JSON.stringify(reset)).not.toContain('salt');
    expect(reset.template.spec.tolerations).toEqual([{ operator: 'Exists' }]);
    expect(left.annotations).not.toHaveProperty(['stowage.dev/install-values']);
  });

  test('refuses invalid recorded options without --reset-values', async () => {
    await stowage(['install', '--replicas', '2']);
    const annotations = { 'stowage.dev/install-values': '{"replicas":"many"}' };
    await client.patch(
      DEPLOYMENTS,
      'stowage',
      { metadata: { annotations } },
      { namespace: 'stowage' },
    );
    const { code, err } = await stowage(['install']);
    expect(code).toBe(5);
    expect(err).toContain(
      'stowage.dev/install-values: replicas: It must be a whole number from 0 to 10',
    );
    expect(err).toContain('--reset-values');
    expect((await stowage(['install', '--reset-values'])).code).toBe(0);
  });

  test('upgrades an existing installation in place, and keeps other fields', async () => {
    await client.create(VOLUMES, sparseVolume('a', 'n1', '1Gi'));
    await stowage(['install']);
    await client.patch(DEPLOYMENTS, 'stowage', { spec: { replicas: 3 } }, { namespace: 'stowage' });
    await client.patch(CLUSTER_ROLES, 'stowage', {
      rules: [],
      metadata: { labels: { team: 'a' } },
    });
    const { code, err } = await stowage(['install', '--image', 'stowage:next']);
    expect(code).toBe(0);
    expect(err).toContain('clusterrole.rbac.authorization.k8s.io/stowage changed\n');
    expect(err).toContain('deployment.apps/stowage in namespace stowage changed\n');
    expect(await client.get(DEPLOYMENTS, 'stowage', { namespace: 'stowage' })).toMatchObject({
      spec: { replicas: 3, template: { spec: { containers: [{ image: 'stowage:next' }] } } },
    });
    const role = await client.get<KubeObject & { rules: [] }>(CLUSTER_ROLES, 'stowage');
    expect(role.metadata.labels).toMatchObject({ team: 'a' });
    expect(role.rules.length).toBeGreaterThan(3);
    expect(await exists(VOLUMES, 'a')).toBe(true);
  });

  test('removes labeled objects of an earlier version, and no others', async () => {
    await stowage(['install']);
    const metadata = {
      name: 'old',
      labels: { [LABEL]: 'stowage', 'app.kubernetes.io/component': 'rbac' },
    };
    const account = { apiVersion: 'v1', kind: 'ServiceAccount' };
    const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', rules: [] };
    await client.create(CLUSTER_ROLES, { ...role, metadata });
    await client.create(CLUSTER_ROLES, { ...role, metadata: { name: 'theirs' } });
    await client.create(SERVICE_ACCOUNTS, { ...account, metadata }, { namespace: 'default' });
    const onlyCrds = await stowage(['install', '--components', 'crds']);
    expect(onlyCrds.err).not.toContain('removed');
    const { err } = await stowage(['install', '--components=rbac']);
    expect(err).toContain('clusterrole.rbac.authorization.k8s.io/old removed\n');
    expect(err).toContain('serviceaccount/old in namespace default removed\n');
    expect(await exists(CLUSTER_ROLES, 'theirs')).toBe(true);
    expect(await exists(CLUSTER_ROLES, 'old')).toBe(false);
    expect(await exists(DEPLOYMENTS, 'stowage', 'stowage')).toBe(true);
  });

  test('--dry-run=client prints the manifests without contacting the server', async () => {
    const { code, out, err } = await stowage(['install', '--dry-run=client'], {}, {} as KubeClient);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    const kinds = parseAllDocuments(out).map((document) => document.toJS().kind);
    expect(kinds.slice(0, 4)).toEqual([...Array(3).fill('CustomResourceDefinition'), 'Namespace']);
    expect(kinds).toHaveLength(18);
  });

  test('gives the daemon a termination grace period of 45 s', async () => {
    const { out } = await stowage(['install', '--dry-run=client']);
    const pod = parseAllDocuments(out).at(-1)?.toJS().spec.template.spec;
    // The daemon takes up to 25 s to stop.
    expect(pod.terminationGracePeriodSeconds).toBe(45);
  });

  test('passes only arguments that the daemon accepts', async () => {
    const { out } = await stowage(['install', '--dry-run=client']);
    const pod = parseAllDocuments(out).at(-1)?.toJS().spec.template.spec;
    const [command, ...flags]: string[] = pod.containers[0].args;
    const program = createProgram(fakeIo().io);
    const watch = program.commands.find((each) => each.name() === command);
    const known = [...program.options, ...(watch?.options ?? [])].map(({ long }) => long);
    expect(flags.map((flag) => flag.split('=')[0]).filter((flag) => !known.includes(flag))).toEqual(
      [],
    );
  });

  test('--dry-run=server stores nothing', async () => {
    const { code, err } = await stowage(['install', '--dry-run=server']);
    expect(code).toBe(0);
    expect(err).toContain('namespace/stowage created (server dry run)\n');
    expect(err).toContain(
      'deployment.apps/stowage in namespace stowage created, unchecked: its namespace does not exist yet (server dry run)\n',
    );
    expect(await exists(NAMESPACES, 'stowage')).toBe(false);
    expect(await exists(CLUSTER_ROLES, 'stowage')).toBe(false);
  });

  test.each(Array.from({ length: WRITES }, (_, index) => index + 1))(
    'completes when run again after an interruption at write %i',
    async (last) => {
      await installing.removeDefinitions();
      let writes = 0;
      const counted =
        <A extends unknown[], R>(write: (...args: A) => Promise<R>) =>
        async (...args: A): Promise<R> => {
          writes += 1;
          if (writes > last) throw new Error('cut off');
          return write(...args);
        };
      const cut: KubeClient = {
        ...client,
        create: counted(client.create) as KubeClient['create'],
        patch: counted(client.patch) as KubeClient['patch'],
        delete: counted(client.delete),
      };
      const first = await stowage(['install'], {}, cut);
      expect(first.code).toBe(last < WRITES ? 1 : 0);
      expect((await stowage(['install'])).code).toBe(0);
      const { err } = await stowage(['install']);
      expect(new Set(outcomesOf(err))).toEqual(new Set(['unchanged']));
    },
  );

  test.each([
    [
      ['--components', 'crd'],
      '"crd" is not a component: the components are crds, snapshot-crds, referencegrant-crd, populator-crds, rbac, deployment.',
    ],
    [['--components', 'crds,snapshots'], '"snapshots" is not a component'],
    [['--components='], '"" is not a component'],
    [['--image', ''], 'Write the name of an image'],
  ])('%j is wrong usage', async (flags, message) => {
    const { code, err } = await stowage(['install', ...flags]);
    expect(code).toBe(2);
    expect(err).toContain(message);
  });
});

describe('beside a daemon that leads in another namespace', () => {
  const clock = new FakeClock();

  test('nothing is installed', async () => {
    await client.create(LEASES, leadingLease(clock.now()));
    const { code, err } = await stowage(['install'], { clock });
    expect(code).toBe(5);
    expect(err).toContain('A daemon already leads, with the Lease default/stowage (host_1)');
    expect(err).toContain('kubectl delete lease stowage -n default');
    expect(await exists(DEPLOYMENTS, 'stowage', 'stowage')).toBe(false);
    expect((await stowage(['install', '-n', 'default'], { clock })).code).toBe(0);
  });

  test('install succeeds once its Lease has expired, or if it moves the daemon', async () => {
    await client.create(LEASES, leadingLease(clock.now() - 60_000));
    expect((await stowage(['install'], { clock })).code).toBe(0);
    const lease = leadingLease(clock.now());
    await client.create(LEASES, {
      ...lease,
      metadata: { ...lease.metadata, namespace: 'stowage' },
    });
    const { code } = await stowage(['install', '-n', 'storage', '--dry-run=server'], { clock });
    expect(code).toBe(0);
  });
});
