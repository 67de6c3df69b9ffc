import { describe, expect, test } from '@jest/globals';
import { fileName, headWithin, listWithin, Tail } from '../../../src/cli/support-bundle/bounds.ts';
import {
  configMapsOf,
  metricsOf,
  withoutVariables,
} from '../../../src/cli/support-bundle/daemon.ts';
import { servedObjects } from '../../../src/cli/support-bundle/kinds.ts';
import { rankPods } from '../../../src/cli/support-bundle/rank-pods.ts';

describe('bounds', () => {
  test.each([
    ['a\nb\n', 4, 'a\nb\n'],
    ['aa\nbb\ncc', 7, 'aa\nbb\n[stowage support-bundle: cut after this line]\n'],
    ['aaaa', 2, 'aa\n[stowage support-bundle: cut after this line]\n'],
  ])('the start of %j within %d bytes', (text, limit, head) => {
    expect(headWithin(text, limit)).toBe(head);
  });

  test.each([
    [['aa\nbb\n'], 10, 'aa\nbb\n'],
    [['aa\n', 'bb\n', 'cc\n'], 9, 'aa\nbb\ncc\n'],
    [['aa\n', 'bb\n', 'cc\n'], 7, '[stowage support-bundle: cut before this line]\nbb\ncc\n'],
    [['aa\nbb\ncc\n'], 5, '[stowage support-bundle: cut before this line]\ncc\n'],
  ])('the end of %j within %d bytes', (parts, limit, end) => {
    const tail = new Tail(limit);
    for (const part of parts) tail.add(Buffer.from(part));
    expect(tail.text()).toBe(end);
  });

  test('a list leaves out what exceeds its limit, and says so', () => {
    const { text, leftOut } = listWithin(['{"a": 1}\n', `"${'x'.repeat(50)}"`, '{"b": 2}\n'], 20);
    expect(leftOut).toBe(1);
    expect(JSON.parse(text)).toEqual({
      apiVersion: 'v1',
      kind: 'List',
      items: [{ a: 1 }, { b: 2 }],
      leftOut: 1,
    });
    expect(JSON.parse(listWithin([], 20).text).items).toEqual([]);
  });

  test.each([
    ['n1.example.com', /^n1\.example\.com$/],
    ['../../etc/passwd', /^__\.\._etc_passwd-[0-9a-f]{8}$/],
    ['..', /^_-[0-9a-f]{8}$/],
    ['a\nb', /^a_b-[0-9a-f]{8}$/],
    ['n'.repeat(253), /^n{71}-[0-9a-f]{8}$/],
  ])('%j is a name of a file', (name, expected) => {
    expect(fileName(name)).toMatch(expected);
  });
});

describe('selection of objects that Stowage serves', () => {
  const meta = (name: string, more: object = {}) => ({ name, uid: `uid-${name}`, ...more });
  const named = (name: string, more: object = {}, metadata: object = {}) => ({
    apiVersion: 'v1',
    kind: 'K',
    metadata: meta(name, metadata),
    ...more,
  });
  const DRIVER = 'volume.stowage.dev';
  const all = new Map<string, ReturnType<typeof named>[]>([
    ['volumes', [named('data1', { spec: { storageClassName: 'static' } })]],
    ['nodes', [named('n1')]],
    [
      'storageclasses',
      [
        named('static', { provisioner: 'kubernetes.io/no-provisioner' }),
        named('dynamic', { provisioner: DRIVER }),
        named('unused', { provisioner: 'kubernetes.io/no-provisioner' }),
        named('foreign', { provisioner: 'other' }),
      ],
    ],
    ['csidrivers', [named(DRIVER), named('other')]],
    [
      'csistoragecapacities',
      [named('c1', { storageClassName: 'dynamic' }), named('c2', { storageClassName: 'foreign' })],
    ],
    [
      'persistentvolumes',
      [
        named('data1', { spec: { claimRef: { uid: 'uid-by-reference' } } }),
        named(
          'by-driver',
          { spec: {} },
          { annotations: { 'pv.kubernetes.io/provisioned-by': DRIVER } },
        ),
        named('foreign', { spec: {} }),
      ],
    ],
    [
      'persistentvolumeclaims',
      [
        named('by-volume', { spec: { volumeName: 'data1' } }, { namespace: 'prod' }),
        named('by-class', { spec: { storageClassName: 'dynamic' } }, { namespace: 'prod' }),
        named('by-reference', { spec: {} }, { namespace: 'prod' }),
        named(
          'by-provisioner',
          { spec: {} },
          { annotations: { 'volume.kubernetes.io/storage-provisioner': DRIVER } },
        ),
        named('foreign', { spec: { storageClassName: 'foreign' } }),
        named('static', { spec: { storageClassName: 'unused' } }),
      ],
    ],
    [
      'volumeattachments',
      [
        named('a1', { spec: { attacher: 'x', source: { persistentVolumeName: 'data1' } } }),
        named('a2', { spec: { attacher: DRIVER, source: {} } }),
        named('a3', { spec: { attacher: 'x', source: { persistentVolumeName: 'foreign' } } }),
      ],
    ],
    ['volumesnapshotclasses', [named('s1', { driver: DRIVER }), named('s2', { driver: 'other' })]],
    [
      'volumesnapshotcontents',
      [
        named('k1', {
          spec: { driver: DRIVER, volumeSnapshotRef: { namespace: 'prod', name: 'by-content' } },
        }),
        named('k2', { spec: { driver: 'other', volumeSnapshotRef: {} } }),
      ],
    ],
    [
      'volumesnapshots',
      [
        named('by-content', { spec: { source: {} } }, { namespace: 'prod' }),
        named('by-class', { spec: { volumeSnapshotClassName: 's1' } }, { namespace: 'prod' }),
        named(
          'by-claim',
          { spec: { source: { persistentVolumeClaimName: 'by-volume' } } },
          { namespace: 'prod' },
        ),
        named(
          'foreign',
          { spec: { source: { persistentVolumeClaimName: 'by-volume' } } },
          { namespace: 'test' },
        ),
      ],
    ],
    [
      'referencegrants',
      [
        named('g1', {
          spec: { to: [{ group: 'snapshot.storage.k8s.io', kind: 'VolumeSnapshot' }] },
        }),
        named('g2', { spec: { to: [{ group: '', kind: 'PersistentVolumeClaim' }] } }),
        named('g3', { spec: { to: [{ group: '', kind: 'Secret' }] } }),
      ],
    ],
    ['leases', [named('stowage'), named('kube-scheduler')]],
    [
      'events',
      [
        named('of-volume', { involvedObject: { kind: 'Volume', uid: 'uid-data1' } }),
        named('of-node', { involvedObject: { kind: 'Node', uid: 'n1' } }),
        named('of-stowage', { involvedObject: {}, source: { component: 'stowage' } }),
        named('foreign', { involvedObject: { kind: 'Pod', uid: 'uid-foreign' } }),
        named('without-uid', { involvedObject: { kind: 'Pod' } }),
      ],
    ],
  ]);
  const served = servedObjects(all);

  test.each([
    ['volumes', ['data1']],
    ['nodes', ['n1']],
    ['storageclasses', ['static', 'dynamic', 'unused']],
    ['csidrivers', [DRIVER]],
    ['csistoragecapacities', ['c1']],
    ['persistentvolumes', ['data1', 'by-driver']],
    ['persistentvolumeclaims', ['by-volume', 'by-class', 'by-reference', 'by-provisioner']],
    ['volumeattachments', ['a1', 'a2']],
    ['volumesnapshotclasses', ['s1']],
    ['volumesnapshotcontents', ['k1']],
    ['volumesnapshots', ['by-content', 'by-class', 'by-claim']],
    ['referencegrants', ['g1', 'g2']],
    ['leases', ['stowage']],
    ['events', ['of-volume', 'of-node', 'of-stowage']],
  ])('%s', (plural, names) => {
    expect(served.get(plural)?.map(({ metadata }) => metadata.name)).toEqual(names);
  });

  test('kinds that the cluster lacks stay absent', () => {
    expect([...servedObjects(new Map()).keys()]).toEqual([]);
  });
});

describe('the order of labelled pods', () => {
  const named = (namespace: string, name: string, owner?: string) => ({
    apiVersion: 'v1',
    kind: 'K',
    metadata: {
      namespace,
      name,
      ...(owner !== undefined && {
        ownerReferences: [
          { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: owner, uid: 'u', controller: true },
        ],
      }),
    },
  });
  const order = (...args: Parameters<typeof rankPods>) =>
    rankPods(...args).map(({ metadata: { namespace, name } }) => `${namespace}/${name}`);

  test('pods beside a Lease or a Deployment of a daemon are first', () => {
    const pods = ['a', 'b', 'c', 'd'].map((namespace) => named(namespace, 'p'));
    const deployments = [named('b', 'stowage'), named('d', 'stowage')];
    expect(order(pods, deployments, [named('c', 'stowage'), named('d', 'stowage')])).toEqual([
      ...['d/p', 'b/p', 'c/p', 'a/p'],
    ]);
  });

  test('namespaces take turns, so that none displaces another', () => {
    const tenants = Array.from({ length: 20 }, (_, index) => named('a', `t${index}`));
    const pods = [...tenants, named('b', 'p0'), named('b', 'p1')];
    const there = [named('a', 'stowage'), named('b', 'stowage')];
    expect(order(pods, there, there).slice(0, 4)).toEqual(['a/t0', 'b/p0', 'a/t1', 'b/p1']);
  });

  test('pods of a Deployment are first in their namespace', () => {
    const pods = [
      named('a', 'p0'),
      named('a', 'p1', 'other-5d4f'),
      named('a', 'p2', 'stowage-5d4f'),
    ];
    expect(order(pods, [named('a', 'stowage')], [])).toEqual(['a/p2', 'a/p0', 'a/p1']);
    expect(order(pods, [named('b', 'stowage')], [])).toEqual(['a/p0', 'a/p1', 'a/p2']);
  });
});

describe('the daemon', () => {
  const pod = (args: string[], ports: object[] = []) =>
    ({ spec: { containers: [{ name: 'stowage', args, ports }] } }) as Parameters<
      typeof metricsOf
    >[0];

  test.each([
    [pod([]), { port: 8080, path: '/metrics' }],
    [pod(['--metrics-path=/a/b'], [{ name: 'http', containerPort: 9 }]), { port: 9, path: '/a/b' }],
    // The path reaches other endpoints of the API server in none of these.
    [pod(['--metrics-path=/../../secrets']), { port: 8080, path: '/metrics' }],
    [pod(['--metrics-path=/a/./b']), { port: 8080, path: '/metrics' }],
    [pod(['--metrics-path=/%2e%2e/a']), { port: 8080, path: '/metrics' }],
    [pod(['--metrics-path=/a?b']), { port: 8080, path: '/metrics' }],
    [{ spec: {} }, { port: 8080, path: '/metrics' }],
  ])('has metrics of %j at %j', (of, expected) => {
    expect(metricsOf(of)).toEqual(expected);
  });

  test('has the ConfigMaps of its volumes and variables, each once', () => {
    const deployment = {
      metadata: { namespace: 'stowage', name: 'stowage' },
      spec: {
        template: {
          spec: {
            volumes: [
              { configMap: { name: 'a' } },
              { projected: { sources: [{ configMap: { name: 'b' } }, { secret: { name: 's' } }] } },
              { secret: { secretName: 't' } },
            ],
            containers: [
              {
                env: [
                  { valueFrom: { configMapKeyRef: { name: 'c' } } },
                  { valueFrom: { secretKeyRef: { name: 'u' } } },
                ],
                envFrom: [{ configMapRef: { name: 'a' } }, { secretRef: { name: 'v' } }],
              },
            ],
          },
        },
      },
    } as unknown as Parameters<typeof configMapsOf>[0][number];
    expect(configMapsOf([deployment]).map(({ name }) => name)).toEqual(['a', 'b', 'c']);
  });

  test('keeps variables of a ConfigMap that are its own', () => {
    const metadata = { name: 'c' };
    const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata };
    expect(
      withoutVariables({
        ...map,
        data: { STOWAGE_TRANSPORT: 'salt', GREETING: 'hello', 'ca.crt': 'x' },
        binaryData: { a: 'eA==' },
      }),
    ).toEqual({
      ...map,
      data: { STOWAGE_TRANSPORT: 'salt', GREETING: 'REMOVED', 'ca.crt': 'x' },
      binaryData: { a: 'REMOVED' },
    });
  });
});
