import { beforeAll, describe, expect, test } from '@jest/globals';
import type { PersistentVolumeClaim } from '../../src/api/core.ts';
import { StowageError } from '../../src/api/errors.ts';
import type { KubeObject } from '../../src/api/meta.ts';
import type { PopulatorDefinition, VolumePopulator } from '../../src/api/populator.ts';
import {
  CLUSTER_ROLES,
  CUSTOM_RESOURCE_DEFINITIONS,
  LEASES,
  PERSISTENT_VOLUME_CLAIMS,
  POPULATOR_DEFINITIONS,
  VOLUME_POPULATORS,
} from '../../src/api/resources.ts';
import type { KubeClient } from '../../src/kube/types.ts';
import { interrupted } from '../support/captured-terminal.ts';
import { startClaimsCluster } from '../support/claims-cluster.ts';
import { HELLO_CRD, HELLO_POPULATOR, helloReference } from '../support/hello.ts';
import { heldLease } from '../support/leading-lease.ts';
import { expectSchema } from '../support/output-page.ts';
import { sharedClaimsCluster } from '../support/shared-claims-cluster.ts';
import { claimNamed, fresh, LINK_POPULATOR } from '../support/snapshots.ts';

const cluster = sharedClaimsCluster(
  {},
  POPULATOR_DEFINITIONS,
  VOLUME_POPULATORS,
  CLUSTER_ROLES,
  PERSISTENT_VOLUME_CLAIMS,
);
beforeAll(async () => {
  await cluster.client.create<KubeObject>(CUSTOM_RESOURCE_DEFINITIONS, HELLO_CRD);
});

const stowage = (...argv: string[]) => cluster.stowage(argv);
const KIND = ['--group', 'hello.example.com', '--kind', 'Hello', '--image', 'busybox'];
const register = (...more: string[]) => stowage('register', 'populator', 'hello', ...KIND, ...more);
const definition = () => cluster.client.get<PopulatorDefinition>(POPULATOR_DEFINITIONS, 'hello');
const claim = (name: string, phase: 'Pending' | 'Bound') =>
  cluster.client.create<PersistentVolumeClaim>(
    PERSISTENT_VOLUME_CLAIMS,
    fresh(
      claimNamed(name, {
        dataSourceRef: helloReference('example'),
        ...(phase === 'Bound' && { volumeName: 'pv' }),
      }),
    ),
  );

describe('register populator', () => {
  test('registers a built-in that fills volumes on their node', async () => {
    const { code, err } = await stowage('register', 'populator', 'image', '--node', 'Image');
    expect([code, err]).toEqual([0, '']);
    expect(
      (await cluster.client.get<PopulatorDefinition>(POPULATOR_DEFINITIONS, 'image')).spec,
    ).toEqual({
      sourceKind: { group: 'stowage.dev', kind: 'Image' },
      resource: { version: 'v1alpha1', plural: 'images', scope: 'Namespaced' },
      node: { builtin: 'Image' },
    });
    const { out } = await stowage('get', 'populators', 'image', '-o', 'json');
    expect(JSON.parse(out)).toMatchObject({ builtin: 'Image', registered: true });
    expectSchema('populator', JSON.parse(out));
  });

  test.each([
    [['--node', 'Image', '--image', 'busybox'], 'either by a pod or on their node'],
    [['--group', 'a.example', '--kind', 'A'], 'missing: --image'],
    [['--node', 'Image', '--mount-path', '/mnt'], '--mount-path is for pods'],
    [['--node', 'Image', '--run-as-user', '0'], '--run-as-user is for pods'],
    [['--node', 'Image', '--toleration', 'a'], '--toleration is for pods'],
    [['--image', 'busybox', '--mount-path', '/mnt'], 'missing: --group, --kind'],
    [['--node', 'Torrent'], 'Torrent'],
  ])('refuses %j', async (flags, said) => {
    const { code, err } = await stowage('register', 'populator', 'x', ...flags);
    expect([code, err]).toEqual([2, expect.stringContaining(said)]);
  });

  test('creates the definition, its VolumePopulator, and the role to read the kind', async () => {
    const { code, out, err } = await register(
      ...['--command=sh', '--arg=--file={.spec.fileName}', '--arg=$(HOME) {.spec.fileContents}'],
      ...['--env', 'MODE=a=b', '--secret-env', 'TOKEN=creds/token', '--secret', 'certs:/etc/certs'],
      ...['--service-account', 'reader', '--request', 'memory=64Mi', '--limit', 'cpu=1'],
      ...['--toleration', 'dedicated=db:NoSchedule', '--toleration', 'gpu', '--run-as-user', '0'],
      ...['--node-selector', 'tier=fast,x=', '--capability', 'CHOWN', '--capability', 'FOWNER'],
      ...['--mount-path', '/target', '--device-path', '/dev/target'],
    );
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out.trimEnd().split('\n')).toEqual([
      'volumepopulator.populator.storage.k8s.io/hello registered',
      'clusterrole.rbac.authorization.k8s.io/stowage-populator-hello registered',
      'populatordefinition.stowage.dev/hello registered',
    ]);
    expect((await definition()).spec).toEqual({
      sourceKind: { group: 'hello.example.com', kind: 'Hello' },
      resource: { version: 'v1alpha1', plural: 'hellos', scope: 'Namespaced' },
      pod: {
        image: 'busybox',
        command: ['sh'],
        args: ['--file={.spec.fileName}', '$(HOME) {.spec.fileContents}'],
        env: [
          { name: 'MODE', value: 'a=b' },
          { name: 'TOKEN', secret: { name: 'creds', key: 'token' } },
        ],
        secrets: [{ name: 'certs', mountPath: '/etc/certs' }],
        serviceAccountName: 'reader',
        resources: { requests: { memory: '64Mi' }, limits: { cpu: '1' } },
        tolerations: [
          { key: 'dedicated', operator: 'Equal', value: 'db', effect: 'NoSchedule' },
          { key: 'gpu', operator: 'Exists' },
        ],
        nodeSelector: { tier: 'fast', x: '' },
        securityContext: { runAsUser: 0 },
        containerSecurityContext: { capabilities: { add: ['CHOWN', 'FOWNER'] } },
        mountPath: '/target',
        devicePath: '/dev/target',
      },
    });
    expect(await cluster.client.get<VolumePopulator>(VOLUME_POPULATORS, 'hello')).toMatchObject({
      sourceKind: { group: 'hello.example.com', kind: 'Hello' },
    });
    // Rights to objects of that kind only.
    expect(
      await cluster.client.get<KubeObject>(CLUSTER_ROLES, 'stowage-populator-hello'),
    ).toMatchObject({
      metadata: { labels: { 'stowage.dev/aggregate-to-populator': 'true' } },
      rules: [
        {
          apiGroups: ['hello.example.com'],
          resources: ['hellos'],
          verbs: ['get', 'list', 'watch'],
        },
      ],
    });
  });

  test.each([
    ['VolumePopulator', 'stowage install --components populator-crds'],
    ['PopulatorDefinition', 'stowage install --components crds'],
  ])('creates nothing without a %s CRD, and prints how to install it', async (kind, hint) => {
    const lacking = await startClaimsCluster({ without: [kind] });
    try {
      const where = ['--api-version', 'v1', '--resource', 'hellos', '--mount-path', '/t'];
      const { code, out, err } = await lacking.stowage([
        'register',
        'populator',
        'hello',
        ...KIND,
        ...where,
      ]);
      expect({ code, out }).toEqual({ code: 3, out: '' });
      expect(err).toContain(`The API server has no ${kind}`);
      expect(err).toContain(hint);
      for (const resource of [VOLUME_POPULATORS, CLUSTER_ROLES, POPULATOR_DEFINITIONS]) {
        if (resource.kind === kind) continue;
        const { items } = await lacking.client.list<KubeObject>(resource);
        expect(items.filter(({ metadata }) => metadata.name.includes('hello'))).toEqual([]);
      }
    } finally {
      await lacking.stop();
    }
  });

  test('creates nothing if one of the objects is refused', async () => {
    const refused = (each: KubeClient): KubeClient => ({
      ...each,
      create: (resource, ...rest) =>
        resource.kind === CLUSTER_ROLES.kind
          ? Promise.reject(new StowageError('forbidden', 'clusterroles is forbidden'))
          : each.create(resource, ...rest),
    });
    const argv = ['register', 'populator', 'hello', ...KIND, '--mount-path=/t'];
    expect(await cluster.stowage(argv, {}, refused)).toMatchObject({ code: 4, out: '' });
    expect((await cluster.client.list(VOLUME_POPULATORS)).items).toEqual([]);
  });

  test('prints the created objects as JSON or names', async () => {
    const { code, out } = await register('--mount-path=/t', '-o', 'json');
    expect(code).toBe(0);
    const { items } = JSON.parse(out) as { items: KubeObject[] };
    expect(items.map(({ kind, metadata }) => [kind, metadata.uid !== undefined])).toEqual([
      ['VolumePopulator', true],
      ['ClusterRole', true],
      ['PopulatorDefinition', true],
    ]);
    expect((await register('--mount-path=/t', '-o', 'name')).out.split('\n')).toHaveLength(4);
  });

  test.each([
    [['--kind', 'Hello', '--image', 'i'], 'missing: --group'],
    [['--group', 'a.b', '--image', 'i'], 'missing: --kind'],
    [['--group', 'a.b/v1', '--kind', 'Hello', '--image', 'i'], '--group'],
    [['--group', 'a.b', '--kind', 'Hello'], '--image'],
    [[...KIND, '--mount-path=/t', '--dry-run=plan'], '--dry-run'],
    [[...KIND, '--mount-path=/t', '-o', 'wide'], '--output'],
  ])('reports the missing or invalid flag of %j', async (flags, why) => {
    const { code, err } = await stowage('register', 'populator', 'hello', ...flags);
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining(why) });
  });

  test('replaces the pod of the definition if run again', async () => {
    await register('--arg=a', '--mount-path=/one');
    expect(await register('--device-path=/dev/two')).toMatchObject({ code: 0 });
    expect((await definition()).spec.pod).toEqual({ image: 'busybox', devicePath: '/dev/two' });
  });

  test('refuses a name that is registered for another kind', async () => {
    await register('--mount-path=/target');
    const other = [
      '--group',
      'hello.example.com',
      '--kind',
      'Other',
      '--image',
      'i',
      '--mount-path',
      '/t',
    ];
    const where = ['--api-version', 'v1', '--resource', 'others'];
    expect(await stowage('register', 'populator', 'hello', ...other, ...where)).toMatchObject({
      code: 5,
      err: expect.stringContaining(
        'VolumePopulator hello already exists, for Hello.hello.example.com',
      ),
    });
    expect((await definition()).spec.sourceKind.kind).toBe('Hello');
  });

  test('accepts a kind that is not served yet, given its version and resource', async () => {
    const later = [
      '--group',
      'later.example.com',
      '--kind',
      'Later',
      '--image',
      'i',
      '--mount-path',
      '/t',
    ];
    expect(await stowage('register', 'populator', 'hello', ...later)).toMatchObject({
      code: 2,
      err: expect.stringContaining('--api-version v1 --resource hellos'),
    });
    const where = ['--api-version', 'v1', '--resource', 'laters', '--cluster-scoped'];
    expect(await stowage('register', 'populator', 'hello', ...later, ...where)).toMatchObject({
      code: 0,
    });
    expect((await definition()).spec.resource).toEqual({
      version: 'v1',
      plural: 'laters',
      scope: 'Cluster',
    });
  });

  test('--dry-run prints the objects and creates none', async () => {
    const where = ['--api-version', 'v1', '--resource', 'hellos', '--mount-path', '/t'];
    const { code, out } = await register(...where, '--dry-run=client', '-o', 'json');
    expect(code).toBe(0);
    expect(JSON.parse(out).items.map(({ kind }: KubeObject) => kind)).toEqual([
      'VolumePopulator',
      'ClusterRole',
      'PopulatorDefinition',
    ]);
    await register('--mount-path=/t', '--dry-run=server');
    expect((await cluster.client.list(POPULATOR_DEFINITIONS)).items).toEqual([]);
  });

  test.each([
    [[], 'neither mountPath nor devicePath'],
    [['--mount-path=/t', '--command={.spec.x}'], 'spec.pod.command has a field'],
    [['--mount-path=/t', `--arg=$${'{'}.spec.x}`], "a '$' right before a field"],
    [['--mount-path=t'], '--mount-path'],
    [['--mount-path=/t', '--secret=certs'], 'SECRET:PATH'],
    [['--mount-path=/t', '--secret-env=A=b'], 'NAME=SECRET/KEY'],
    [['--mount-path=/t', '--env=A'], 'NAME=VALUE'],
    [['--mount-path=/t', '--limit=memory=much'], 'NAME=QUANTITY'],
    [['--mount-path=/t', '--toleration=a:Never'], 'KEY=VALUE:EFFECT'],
    [['--mount-path=/t', '--capability=SYS_ADMIN'], 'AUDIT_WRITE'],
    [['--mount-path=/t', '--run-as-user=root'], 'whole number'],
  ])('%j is wrong usage', async (more, why) => {
    expect(await register(...more)).toMatchObject({ code: 2, err: expect.stringContaining(why) });
    expect((await cluster.client.list(POPULATOR_DEFINITIONS)).items).toEqual([]);
  });
});

/** Definitions that the schema refuses from any client. */
test.each([
  [{ mountPath: undefined }, 'at least one of mountPath and devicePath must be set'],
  [{ args: [`$${'{'}.spec.x}`] }, "'$' must not directly precede a field"],
  [{ env: [{ name: 'A' }] }, 'exactly one of value and secret must be set'],
  [{ mountPath: 'relative' }, 'mountPath'],
  [{ image: undefined }, 'image'],
  [
    { tolerations: [{ operator: 'Equal' }] },
    'a toleration without a key needs the operator Exists',
  ],
  [{ tolerations: [{ key: 'a', operator: 'Exists', value: 'b' }] }, 'has no value'],
  [{ tolerations: [{ key: 'a', tolerationSeconds: 5 }] }, 'needs the effect NoExecute'],
  [{ tolerations: [{ key: 'a b' }] }, 'key'],
  [{ nodeSelector: { a: 'b c' } }, 'nodeSelector'],
  [{ securityContext: { runAsUser: -1 } }, 'runAsUser'],
  [{ securityContext: { runAsUser: 0, runAsNonRoot: true } }, 'runAsUser 0 is root'],
  [{ securityContext: { seccompProfile: { type: 'Unconfined' } } }, 'seccompProfile'],
  [{ securityContext: { seccompProfile: { type: 'Localhost' } } }, 'localhostProfile'],
  [{ containerSecurityContext: { capabilities: { add: ['SYS_ADMIN'] } } }, 'SYS_ADMIN'],
])('the CRD refuses a PopulatorDefinition with %j', async (pod, why) => {
  const spec = {
    sourceKind: { group: 'hello.example.com', kind: 'Hello' },
    resource: { version: 'v1alpha1', plural: 'hellos' },
    pod: { image: 'i', mountPath: '/t', ...pod },
  };
  const object = {
    apiVersion: 'stowage.dev/v1alpha1',
    kind: 'PopulatorDefinition',
    metadata: { name: 'x' },
    spec,
  } as unknown as PopulatorDefinition;
  await expect(cluster.client.create(POPULATOR_DEFINITIONS, object)).rejects.toThrow(why);
});

test('the source kind of a PopulatorDefinition is immutable', async () => {
  await register('--mount-path=/t');
  const patch = { spec: { sourceKind: { kind: 'Other' } } };
  await expect(cluster.client.patch(POPULATOR_DEFINITIONS, 'hello', patch)).rejects.toThrow(
    'sourceKind is immutable',
  );
});

test('a PopulatorDefinition cannot change from pod to node', async () => {
  await register('--mount-path=/t');
  const patch = { spec: { pod: null, node: { builtin: 'Image' } } };
  await expect(cluster.client.patch(POPULATOR_DEFINITIONS, 'hello', patch)).rejects.toThrow(
    'pod and node cannot replace each other',
  );
});

describe('unregister populator', () => {
  test('is refused while claims wait to be filled, then deletes all its objects', async () => {
    await register('--mount-path=/t');
    await claim('waits', 'Pending');
    await claim('filled', 'Bound');
    expect(await stowage('unregister', 'populator', 'hello')).toMatchObject({
      code: 5,
      err: expect.stringMatching(
        /Claims wait to be filled from Hello.hello.example.com: test\/waits\n/,
      ),
    });
    await cluster.client.delete(PERSISTENT_VOLUME_CLAIMS, 'waits', { namespace: 'test' });
    expect((await stowage('unregister', 'populator', 'hello', '--dry-run=server')).code).toBe(0);
    expect((await cluster.client.list(VOLUME_POPULATORS)).items).toHaveLength(1);
    const { code, out } = await stowage('unregister', 'populator', 'hello');
    expect([code, out.split('\n').length]).toEqual([0, 4]);
    for (const resource of [POPULATOR_DEFINITIONS, VOLUME_POPULATORS, CLUSTER_ROLES]) {
      expect((await cluster.client.list(resource)).items).toEqual([]);
    }
    expect((await stowage('unregister', 'populator', 'hello')).code).toBe(3);
  });

  test('keeps objects of another kind or another manager', async () => {
    await register('--mount-path=/t');
    await cluster.client.patch(VOLUME_POPULATORS, 'hello', { sourceKind: { kind: 'Other' } });
    const label = { metadata: { labels: { 'app.kubernetes.io/managed-by': 'helm' } } };
    await cluster.client.patch(CLUSTER_ROLES, 'stowage-populator-hello', label);
    expect((await stowage('unregister', 'populator', 'hello')).out).toBe(
      'populatordefinition.stowage.dev/hello removed\n',
    );
    expect((await cluster.client.list(VOLUME_POPULATORS)).items).toHaveLength(1);
    expect((await cluster.client.list(CLUSTER_ROLES)).items).toHaveLength(1);
  });
});

describe('get populators', () => {
  const THEIRS = {
    ...HELLO_POPULATOR,
    metadata: { name: 'theirs' },
    sourceKind: { group: 'x.example.com', kind: 'X' },
  };

  test('lists populators with their source kinds and claims', async () => {
    await register('--mount-path=/t');
    await cluster.client.create(VOLUME_POPULATORS, THEIRS);
    await claim('waits', 'Pending');
    await claim('filled', 'Bound');
    const { out } = await stowage('get', 'populators', '-o', 'json');
    const { items } = JSON.parse(out);
    for (const item of items) expectSchema('populator', item);
    expect(items).toMatchObject([
      {
        ...{
          name: 'hello',
          group: 'hello.example.com',
          kind: 'Hello',
          registered: true,
          image: 'busybox',
        },
        claims: [
          { namespace: 'test', name: 'filled', source: 'example', waits: false },
          { namespace: 'test', name: 'waits', source: 'example', phase: 'Pending', waits: true },
        ],
      },
      { name: 'theirs', registered: true, claims: [] },
    ]);
    expect(items[1]).not.toHaveProperty('image');
    const text = (await stowage('get', 'populators')).out;
    expect(text).toMatch(/^hello +Hello.hello.example.com +busybox +test\/waits +test\/filled /m);
    expect(text).toMatch(/^theirs +X.x.example.com +\(others\)/m);
    expect((await stowage('get', 'populators', '-o', 'name')).out).toBe(
      'populatordefinition.stowage.dev/hello\nvolumepopulator.populator.storage.k8s.io/theirs\n',
    );
  });

  test('names the daemon as populator of VolumeSnapshotLinks while it follows them', async () => {
    await cluster.client.create(VOLUME_POPULATORS, LINK_POPULATOR);
    expect((await stowage('get', 'populators', 'volumesnapshotlink')).out).toMatch(
      /^volumesnapshotlink +VolumeSnapshotLink.snapshot.storage.k8s.io +volume.stowage.dev /m,
    );
    const { out } = await stowage('get', 'populators', 'volumesnapshotlink', '-o', 'json');
    expect(JSON.parse(out)).toMatchObject({ provisioner: 'volume.stowage.dev' });
    expectSchema('populator', JSON.parse(out));
    await cluster.client.create(LEASES, heldLease({ links: false }));
    try {
      expect((await stowage('get', 'populators', 'volumesnapshotlink')).out).toContain(
        ' (others) ',
      );
    } finally {
      await cluster.client.delete(LEASES, 'stowage', { namespace: 'default' });
    }
  });

  test('reports a definition without a VolumePopulator', async () => {
    await register('--mount-path=/t');
    await cluster.client.delete(VOLUME_POPULATORS, 'hello');
    expect((await stowage('get', 'populator', 'hello')).out).toContain(
      'busybox, without a VolumePopulator',
    );
    expect(await stowage('get', 'populators', 'hello', 'nowhere')).toMatchObject({ code: 7 });
    expect(await stowage('get', 'populators', 'nowhere')).toMatchObject({ code: 3, out: '' });
  });

  test('-w prints a populator again when it or its claims change, until interrupted', async () => {
    await register('--mount-path=/t');
    const argv = ['get', 'populators', '-w', '--no-headers'];
    const { code, err, lines } = await interrupted(cluster, argv, async (shows) => {
      await shows('busybox');
      await claim('waits', 'Pending');
      await shows('test/waits');
      // A claim without a data source.
      await cluster.client.create(PERSISTENT_VOLUME_CLAIMS, fresh(claimNamed('nothing')));
      await cluster.client.delete(VOLUME_POPULATORS, 'hello');
      await shows('without a VolumePopulator');
      await cluster.client.create(VOLUME_POPULATORS, THEIRS);
      await shows('theirs');
      await cluster.client.delete(POPULATOR_DEFINITIONS, 'hello');
      await shows('Gone');
    });
    expect({ code, err }).toEqual({ code: 130, err: '' });
    const cells = lines.map((line) => line.split(/ {2,}/).slice(0, 4));
    const hello = ['hello', 'Hello.hello.example.com'];
    expect(cells).toEqual([
      [...hello, 'busybox', '<none>'],
      [...hello, 'busybox', 'test/waits'],
      [...hello, 'busybox, without a VolumePopulator', 'test/waits'],
      ['theirs', 'X.x.example.com', '(others)', '<none>'],
      [...hello, 'Gone', 'test/waits'],
    ]);
  });

  test('-w with an unknown name exits at once with 3', async () => {
    expect((await stowage('get', 'populators', 'nowhere', '-w')).code).toBe(3);
  });
});
