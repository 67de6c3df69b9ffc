import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { KubeObject } from '../../../src/api/meta.ts';
import {
  CLUSTER_ROLES,
  CSI_DRIVERS,
  CSI_STORAGE_CAPACITIES,
  CUSTOM_RESOURCE_DEFINITIONS,
  DEPLOYMENTS,
  EVENTS,
  LEASES,
  NAMESPACES,
  NETWORK_POLICIES,
  PERSISTENT_VOLUME_CLAIMS,
  ROLES,
  SERVICE_ACCOUNTS,
  VOLUMES,
} from '../../../src/api/resources.ts';
import { CAPACITY_LABELS, CSI_DRIVER } from '../../../src/controllers/lib/capacity/capacity.ts';
import { ApiError } from '../../../src/kube/errors.ts';
import type { KubeClient } from '../../../src/kube/types.ts';
import { sparseVolume } from '../../support/cluster.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { outcomesOf, startInstalling } from '../../support/installing.ts';
import { leadingLease } from '../../support/leading-lease.ts';

const VOLUME_CRD = 'volumes.storage.metalk8s.scality.com';

let installing: Awaited<ReturnType<typeof startInstalling>>;
let client: KubeClient;
let { stowage, exists } = {} as typeof installing;

beforeEach(async () => {
  installing = await startInstalling();
  ({ client, stowage, exists } = installing);
  await installing.removeDefinitions();
});
afterEach(() => installing.stop());

const core = (plural: string, kind: string) => ({
  group: '',
  version: 'v1',
  plural,
  kind,
  namespaced: true,
});
const SECRETS = core('secrets', 'Secret');
const CONFIG_MAPS = core('configmaps', 'ConfigMap');
const make = (resource: typeof SECRETS, name: string, namespace: string, rest: object = {}) =>
  client.create(
    resource,
    {
      apiVersion: [resource.group, resource.version].filter(Boolean).join('/'),
      kind: resource.kind,
      metadata: { name },
      ...rest,
    } as KubeObject,
    { namespace },
  );
const STAYS = (namespace: string, what: string) =>
  `namespace/${namespace} stays: it has objects that Stowage did not create: ${what}. To delete it with all of them: kubectl delete namespace ${namespace}\n`;

test('uninstall removes every object of install, and no others', async () => {
  await stowage(['install']);
  const { code, err, out } = await stowage(['uninstall', '--yes']);
  expect({ code, out }).toEqual({ code: 0, out: '' });
  expect(err.split('\n')[0]).toBe('deployment.apps/stowage in namespace stowage removed');
  expect(err).toContain('namespace/stowage removed\n');
  for (const [resource, name, namespace] of [
    [CUSTOM_RESOURCE_DEFINITIONS, VOLUME_CRD, undefined],
    [CLUSTER_ROLES, 'stowage', undefined],
    [ROLES, 'stowage-leader-election', 'stowage'],
    [NETWORK_POLICIES, 'stowage', 'stowage'],
    [NAMESPACES, 'stowage', undefined],
  ] as const) {
    expect(await exists(resource, name, namespace)).toBe(false);
  }
  expect(await exists(NAMESPACES, 'default')).toBe(true);
  expect((await stowage(['uninstall', '--yes'])).err).toBe('no objects of stowage install found\n');
});

test('uninstall refuses while Volumes exist, and removes nothing', async () => {
  await stowage(['install']);
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) {
    await client.create(VOLUMES, sparseVolume(name, 'n1', '1Gi'));
  }
  const { code, err } = await stowage(['uninstall', '--yes']);
  expect(code).toBe(5);
  expect(err).toContain('there are 6 Volumes (a, b, c, d, e, …)');
  expect(err).toContain('stowage uninstall --components rbac,deployment');
  expect(err).not.toContain('removed\n');
  expect(await exists(DEPLOYMENTS, 'stowage', 'stowage')).toBe(true);
  expect((await stowage(['uninstall', '--yes', '--components', 'rbac,deployment'])).code).toBe(0);
  expect(await exists(VOLUMES, 'a')).toBe(true);
  expect(await exists(DEPLOYMENTS, 'stowage', 'stowage')).toBe(false);
});

test('uninstall refuses if a Volume is created meanwhile', async () => {
  await stowage(['install']);
  const late: KubeClient = {
    ...client,
    delete: async (resource, name, options) => {
      if (resource === CLUSTER_ROLES && name === 'stowage')
        await client.create(VOLUMES, sparseVolume('late', 'n1', '1Gi'));
      await client.delete(resource, name, options);
    },
  };
  const { code, err } = await stowage(['uninstall', '--yes'], {}, late);
  expect(code).toBe(5);
  expect(err).toContain('there are 1 Volume (late)');
  expect(await exists(CUSTOM_RESOURCE_DEFINITIONS, VOLUME_CRD)).toBe(true);
});

test('uninstall keeps a namespace and a CRD that install did not create', async () => {
  await client.create(NAMESPACES, {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'mine' },
  });
  await stowage(['install', '-n', 'mine']);
  // A definition as MetalK8s publishes it.
  const labels = Object.fromEntries(
    Object.keys(
      (await client.get<KubeObject>(CUSTOM_RESOURCE_DEFINITIONS, VOLUME_CRD)).metadata.labels ?? {},
    ).map((key) => [key, null]),
  );
  await client.patch(CUSTOM_RESOURCE_DEFINITIONS, VOLUME_CRD, { metadata: { labels } });
  await stowage(['install', '-n', 'mine']);
  const { err } = await stowage(['uninstall', '--yes']);
  expect(err).not.toContain(VOLUME_CRD);
  expect(await exists(NAMESPACES, 'mine')).toBe(true);
  expect(await exists(CUSTOM_RESOURCE_DEFINITIONS, VOLUME_CRD)).toBe(true);
  expect(await exists(CUSTOM_RESOURCE_DEFINITIONS, 'leftovers.stowage.dev')).toBe(false);
});

test('uninstall keeps every namespace with objects of others, also after a move', async () => {
  await stowage(['install', '-n', 'old']);
  await make(CONFIG_MAPS, 'theirs', 'old');
  const template = {
    metadata: { labels: { app: 'x' } },
    spec: { containers: [{ name: 'x', image: 'x' }] },
  };
  await make(DEPLOYMENTS, 'other', 'old', {
    spec: { selector: { matchLabels: { app: 'x' } }, template },
  });
  await make(SECRETS, 'stowage-ssh', 'old');
  await stowage(['install', '-n', 'new']);
  const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
  await make(PERSISTENT_VOLUME_CLAIMS, 'data', 'new', { spec });
  await stowage(['install', '-n', 'newest']);
  const { code, err } = await stowage(['uninstall', '--components', 'rbac,deployment', '--yes']);
  expect(code).toBe(0);
  expect(err).toContain(STAYS('old', 'configmap/theirs, secret/stowage-ssh, deployment/other'));
  expect(err).toContain(STAYS('new', 'persistentvolumeclaim/data'));
  expect(err).toContain('namespace/newest removed\n');
  expect(await exists(SECRETS, 'stowage-ssh', 'old')).toBe(true);
  expect(await exists(DEPLOYMENTS, 'other', 'old')).toBe(true);
  expect(await exists(PERSISTENT_VOLUME_CLAIMS, 'data', 'new')).toBe(true);
  expect(await exists(NAMESPACES, 'newest')).toBe(false);
});

test('uninstall keeps a namespace with custom resources of others', async () => {
  await stowage(['install']);
  const definition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object' } },
        },
      ],
    },
  };
  await client.create(CUSTOM_RESOURCE_DEFINITIONS, definition);
  await make({ ...core('widgets', 'Widget'), group: 'example.com' }, 'w', 'stowage');
  const { err } = await stowage(['uninstall', '--yes']);
  expect(err).toContain(STAYS('stowage', 'widget/w'));
  expect(await exists(NAMESPACES, 'stowage')).toBe(true);
});

test('uninstall removes a namespace with only objects of Kubernetes and the daemon', async () => {
  await stowage(['install']);
  await make(CONFIG_MAPS, 'kube-root-ca.crt', 'stowage');
  await make(SERVICE_ACCOUNTS, 'default', 'stowage');
  await make(LEASES, 'stowage', 'stowage', { spec: {} });
  const involvedObject = { kind: 'Pod', name: 'x', namespace: 'stowage' };
  await make(EVENTS, 'e', 'stowage', { involvedObject });
  expect((await stowage(['uninstall', '--yes'])).err).toContain('namespace/stowage removed\n');
});

test('uninstall keeps a namespace that gets an object of others meanwhile', async () => {
  await stowage(['install']);
  const late: KubeClient = {
    ...client,
    delete: async (resource, name, options) => {
      if (resource === CLUSTER_ROLES && name === 'stowage') await make(SECRETS, 'late', 'stowage');
      await client.delete(resource, name, options);
    },
  };
  const { err } = await stowage(['uninstall', '--yes'], {}, late);
  expect(err).toContain(STAYS('stowage', 'secret/late'));
  expect(await exists(SECRETS, 'late', 'stowage')).toBe(true);
});

test('uninstall keeps a namespace whose objects it may not list', async () => {
  await stowage(['install']);
  const blind: KubeClient = {
    ...client,
    list: (resource, options) => {
      const status = {
        apiVersion: 'v1',
        kind: 'Status',
        status: 'Failure',
        message: 'secrets is forbidden',
      } as const;
      if (resource.plural === 'secrets') throw new ApiError(status, 403, 'list');
      return client.list(resource, options);
    },
  };
  const { code, err } = await stowage(['uninstall', '--yes'], {}, blind);
  expect(code).toBe(0);
  expect(err).toContain(
    'namespace/stowage stays: cannot check for objects that Stowage did not create: secrets is forbidden\n',
  );
  expect(await exists(NAMESPACES, 'stowage')).toBe(true);
});

test('uninstall asks for confirmation, and requires --yes without a terminal', async () => {
  await stowage(['install']);
  const no = await stowage(['uninstall'], { tty: true, answers: [false] });
  expect(no).toMatchObject({ code: 5, questions: ['Remove all of these?'] });
  const unasked = await stowage(['uninstall']);
  expect(unasked.code).toBe(2);
  expect(unasked.err).toContain(
    'This would be removed: deployment.apps/stowage in namespace stowage;',
  );
  expect(await exists(DEPLOYMENTS, 'stowage', 'stowage')).toBe(true);
});

test.each(['client', 'server'])('uninstall --dry-run=%s removes nothing', async (how) => {
  await stowage(['install']);
  const { code, err } = await stowage(['uninstall', `--dry-run=${how}`]);
  expect(code).toBe(0);
  expect(err).toContain(`namespace/stowage removed (${how} dry run)\n`);
  const again = await stowage(['install']);
  expect(new Set(outcomesOf(again.err))).toEqual(new Set(['unchanged']));
});

describe('objects that daemons created at run time', () => {
  const capacityIn = (namespace: string) =>
    client.create<KubeObject>(
      CSI_STORAGE_CAPACITIES,
      {
        ...{
          apiVersion: 'storage.k8s.io/v1',
          kind: 'CSIStorageCapacity',
          storageClassName: 'fast',
        },
        metadata: { name: 'stowage-1', labels: CAPACITY_LABELS },
      } as KubeObject,
      { namespace },
    );
  const leaseIn = (namespace: string, now: number) => {
    const lease = leadingLease(now);
    return client.create(LEASES, { ...lease, metadata: { ...lease.metadata, namespace } });
  };
  const there = async () => ({
    capacities: (await client.list<KubeObject>(CSI_STORAGE_CAPACITIES)).items.map(
      ({ metadata }) => metadata.namespace,
    ),
    leases: (await client.list<KubeObject>(LEASES)).items
      .filter(({ metadata }) => metadata.name === 'stowage')
      .map(({ metadata }) => metadata.namespace),
    driver: await exists(CSI_DRIVERS, 'volume.stowage.dev'),
  });
  /**
   * Creates objects of a daemon in a terminal and of an installed one, with the renewal times of
   * their Leases.
   */
  async function make(terminalAt: number, now: number) {
    await stowage(['install']);
    await client.create(CSI_DRIVERS, CSI_DRIVER);
    for (const namespace of ['default', 'stowage']) await capacityIn(namespace);
    await leaseIn('default', terminalAt);
    await leaseIn('stowage', now);
  }
  const clock = new FakeClock();

  test('are removed by uninstall', async () => {
    await make(0, clock.now());
    const { code, err } = await stowage(['uninstall', '--yes'], { clock });
    expect(code).toBe(0);
    expect(err).toContain('namespace/stowage removed');
    expect(await there()).toEqual({ capacities: [], leases: [], driver: false });
  });

  test('stay in the namespace of a daemon that still leads', async () => {
    await make(clock.now(), clock.now());
    await stowage(['uninstall', '--yes'], { clock });
    expect(await there()).toEqual({ capacities: ['default'], leases: ['default'], driver: true });
  });

  test('are removed by install from a namespace where no daemon leads', async () => {
    await make(0, clock.now());
    const { err } = await stowage(['install'], { clock });
    expect(err).toContain(
      'csistoragecapacity.storage.k8s.io/stowage-1 in namespace default removed\n',
    );
    expect(await there()).toEqual({ capacities: ['stowage'], leases: ['stowage'], driver: true });
  });
});
