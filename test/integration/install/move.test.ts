import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { KubeObject } from '../../../src/api/meta.ts';
import {
  CLUSTER_ROLE_BINDINGS,
  DEPLOYMENTS,
  NAMESPACES,
  NETWORK_POLICIES,
  PODS,
  ROLES,
  SERVICE_ACCOUNTS,
} from '../../../src/api/resources.ts';
import type { KubeClient } from '../../../src/kube/types.ts';
import { FakeClock, until } from '../../support/fake-clock.ts';
import { startInstalling } from '../../support/installing.ts';

const LABELS = { 'app.kubernetes.io/name': 'stowage' };

let installing: Awaited<ReturnType<typeof startInstalling>>;
let client: KubeClient;
let { stowage, exists } = {} as typeof installing;

beforeEach(async () => {
  installing = await startInstalling();
  ({ client, stowage, exists } = installing);
});
afterEach(() => installing.stop());

const daemonIn = (namespace: string) => exists(DEPLOYMENTS, 'stowage', namespace);

/** Creates a pod of the daemon in the namespace `stowage` that ends slowly. */
async function slowPod(owned: boolean): Promise<() => Promise<unknown>> {
  const { metadata } = await client.get<KubeObject>(DEPLOYMENTS, 'stowage', {
    namespace: 'stowage',
  });
  const { uid = '', name } = metadata;
  const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name, uid, blockOwnerDeletion: true };
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: 'stowage-1',
      labels: LABELS,
      finalizers: ['example.com/slow'],
      ownerReferences: owned ? [owner] : [],
    },
    spec: { containers: [{ name: 'stowage', image: 'x' }] },
  };
  await client.create(PODS, pod as KubeObject, { namespace: 'stowage' });
  return async () => {
    const at = { namespace: 'stowage' };
    await client.patch(PODS, 'stowage-1', { metadata: { finalizers: null } }, at);
    if (!owned) await client.delete(PODS, 'stowage-1', at);
  };
}

test('moving the daemon removes its Deployment before it creates the new one', async () => {
  await stowage(['install']);
  const { err } = await stowage(['install', '-n', 'elsewhere']);
  const lines = err.split('\n');
  const removed = lines.indexOf('deployment.apps/stowage in namespace stowage removed');
  expect(removed).toBeGreaterThan(0);
  expect(lines.indexOf('deployment.apps/stowage in namespace elsewhere created')).toBeGreaterThan(
    removed,
  );
  expect(await exists(ROLES, 'stowage-leader-election', 'stowage')).toBe(false);
  expect(await exists(NETWORK_POLICIES, 'stowage', 'stowage')).toBe(false);
  expect(await exists(NETWORK_POLICIES, 'stowage', 'elsewhere')).toBe(true);
  expect(await exists(NAMESPACES, 'stowage')).toBe(true);
});

describe("a Deployment that only has Stowage's labels", () => {
  const labels = {
    ...LABELS,
    'app.kubernetes.io/managed-by': 'stowage',
    'app.kubernetes.io/component': 'deployment',
  };
  const values = { transport: 'salt', saltUrl: 'https://elsewhere', saltAudience: 'salt-api' };
  beforeEach(async () => {
    const at = { namespace: 'default' };
    const template = {
      metadata: { labels: LABELS },
      spec: { containers: [{ name: 'x', image: 'x' }] },
    };
    const annotations = { 'stowage.dev/install-values': JSON.stringify(values) };
    const deployment = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'stowage', labels, annotations },
      spec: { selector: { matchLabels: LABELS }, template },
    };
    await client.create<KubeObject>(DEPLOYMENTS, deployment, at);
    const rbac = { ...labels, 'app.kubernetes.io/component': 'rbac' };
    const account = { apiVersion: 'v1', kind: 'ServiceAccount' };
    await client.create(
      SERVICE_ACCOUNTS,
      { ...account, metadata: { name: 'stowage', labels: rbac } },
      at,
    );
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x', labels: LABELS } };
    await client.create<KubeObject>(PODS, { ...pod, spec: template.spec } as KubeObject, at);
  });

  test.each([[[]], [['--components', 'crds,rbac,deployment']]])(
    'is not counted as the daemon, and does not delay the install: %j',
    async (flags) => {
      const { code, err } = await stowage(['install', ...flags]);
      expect({ code, waits: err.includes('waiting') }).toEqual({ code: 0, waits: false });
      const { spec } = await client.get<KubeObject & { spec: unknown }>(DEPLOYMENTS, 'stowage', {
        namespace: 'stowage',
      });
      expect(JSON.stringify(spec)).not.toContain('salt');
      expect(await daemonIn('default')).toBe(true);
    },
  );

  test('does not prevent a component from being installed separately', async () => {
    await stowage(['install', '--components', 'rbac']);
    const { code, err } = await stowage(['install', '--components', 'deployment']);
    expect({ code, err }).toEqual({ code: 0, err: expect.not.stringContaining('default') });
  });
});

describe.each([
  ['owned by the Deployment', true],
  ['orphaned by the Deployment', false],
])('a pod of the daemon %s', (_, owned) => {
  test('ends before the new daemon starts, and keeps its RBAC until then', async () => {
    await stowage(['install']);
    const end = await slowPod(owned);
    const clock = new FakeClock();
    const moving = stowage(['install', '-n', 'elsewhere'], { clock });
    await until(() => clock.sleeping.includes(120_000));
    expect(await daemonIn('elsewhere')).toBe(false);
    expect(await client.get(CLUSTER_ROLE_BINDINGS, 'stowage')).toMatchObject({
      subjects: [{ namespace: 'stowage' }],
    });
    await end();
    const { code, err } = await moving;
    expect(code).toBe(0);
    expect(err).toContain(
      'waiting for the pods of the daemon in namespace stowage to end: stowage-1\n',
    );
    expect(await daemonIn('elsewhere')).toBe(true);
  });

  test('prevents the new Deployment if it does not end in time', async () => {
    await stowage(['install']);
    const end = await slowPod(owned);
    const clock = new FakeClock();
    const moving = stowage(['install', '-n', 'elsewhere'], { clock });
    await until(() => clock.sleeping.includes(120_000));
    // Watches last at most this long.
    await clock.advance(60_000);
    await until(() => clock.sleeping.includes(1000));
    await clock.advance(60_000);
    const { code, err } = await moving;
    expect(code).toBe(6);
    expect(err).toContain('the daemon in namespace stowage still has pods: stowage-1 after 120 s');
    expect(err).toContain('kubectl -n stowage delete pod --force stowage-1');
    expect(await daemonIn('elsewhere')).toBe(false);

    // The next install waits again, even if the Deployment no longer exists.
    const again = stowage(['install', '-n', 'elsewhere'], { clock });
    await until(() => clock.sleeping.includes(120_000));
    expect(await daemonIn('elsewhere')).toBe(false);
    await end();
    expect((await again).code).toBe(0);
    expect(await daemonIn('elsewhere')).toBe(true);
  });
});

describe('an install that fails', () => {
  const foreign = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'stowage' },
    spec: {
      selector: { matchLabels: { app: 'x' } },
      template: {
        metadata: { labels: { app: 'x' } },
        spec: { containers: [{ name: 'x', image: 'x' }] },
      },
    },
  };

  test.each([
    [[], 'selects other pods'],
    [['--components', 'deployment'], 'would lose its ServiceAccount'],
  ])('removes nothing if the new daemon cannot be created: %j', async (flags, message) => {
    await stowage(['install', '-n', 'other']);
    await client.create(NAMESPACES, {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'stowage' },
    });
    await client.create(DEPLOYMENTS, foreign as KubeObject, { namespace: 'stowage' });
    const { code, err } = await stowage(['install', ...flags]);
    expect(code).toBe(5);
    expect(err).toContain(message);
    expect(err).not.toContain('removed\n');
    expect(await daemonIn('other')).toBe(true);
    expect(await exists(SERVICE_ACCOUNTS, 'stowage', 'other')).toBe(true);
  });

  test('removes nothing if the server refuses the new daemon', async () => {
    await stowage(['install', '-n', 'other']);
    const refusing: KubeClient = {
      ...client,
      create: async (resource, object, options) => {
        if (resource === DEPLOYMENTS) throw new Error('denied by a webhook');
        return client.create(resource, object, options);
      },
    };
    const { err } = await stowage(['install'], {}, refusing);
    expect(err).toContain('denied by a webhook');
    expect(await daemonIn('other')).toBe(true);
    expect(await exists(SERVICE_ACCOUNTS, 'stowage', 'stowage')).toBe(false);
  });

  test.each(['rbac', 'deployment'])(
    'removes nothing of a daemon elsewhere if only %s is installed',
    async (one) => {
      await stowage(['install', '-n', 'other']);
      const { code, err } = await stowage(['install', '--components', one]);
      expect(code).toBe(5);
      expect(err).toContain('deployment.apps/stowage in namespace other already exists');
      expect(err).toContain(`stowage install -n other --components ${one}.`);
      expect(err).toContain('stowage install -n stowage --components rbac,deployment');
      expect(await exists(SERVICE_ACCOUNTS, 'stowage', 'other')).toBe(true);
      expect(await exists(NAMESPACES, 'stowage')).toBe(false);
    },
  );
});

describe('a ClusterRoleBinding of another role', () => {
  const rebind = async () => {
    await stowage(['install']);
    const { metadata, ...rest } = await client.get<KubeObject>(CLUSTER_ROLE_BINDINGS, 'stowage');
    const { labels, annotations } = metadata;
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'before' };
    await client.delete(CLUSTER_ROLE_BINDINGS, 'stowage');
    await client.create<KubeObject>(CLUSTER_ROLE_BINDINGS, {
      ...rest,
      metadata: { name: 'stowage', labels: labels ?? {}, annotations: annotations ?? {} },
      ...{ roleRef },
    });
  };

  test('is recreated', async () => {
    await rebind();
    const dry = await stowage(['install', '--dry-run=server']);
    const title = 'clusterrolebinding.rbac.authorization.k8s.io/stowage recreated';
    expect(dry.err).toContain(`${title} (server dry run)\n`);
    const { code, err } = await stowage(['install']);
    expect(code).toBe(0);
    expect(err).toContain(`${title}\n`);
    expect(await client.get(CLUSTER_ROLE_BINDINGS, 'stowage')).toMatchObject({
      roleRef: { name: 'stowage' },
    });
  });

  test('is kept if the server refuses the new one', async () => {
    await rebind();
    const refusing: KubeClient = {
      ...client,
      create: async (resource, object, options) => {
        if (resource === CLUSTER_ROLE_BINDINGS) throw new Error('denied by a webhook');
        return client.create(resource, object, options);
      },
    };
    const { err } = await stowage(['install'], {}, refusing);
    expect(err).toContain('denied by a webhook');
    expect(await client.get(CLUSTER_ROLE_BINDINGS, 'stowage')).toMatchObject({
      roleRef: { name: 'before' },
    });
  });
});
