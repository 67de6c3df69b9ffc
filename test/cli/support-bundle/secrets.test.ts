import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { NodeError } from '../../../src/nodes/errors.ts';
import { nodeNamed } from '../../support/cluster-objects.ts';
import { fakeExecutor, result } from '../../support/fake-executor.ts';
import { volumeNamed } from '../../support/volumes.ts';
import { OK } from '../node/check/checked-node.ts';
import { type PlantedCluster, plantedCluster, unpacked } from './planted-cluster.ts';

/** All planted secrets. */
const secrets: string[] = [];

function secret(where: string): string {
  const planted = `hunter2-${where.replaceAll(' ', '-')}`;
  secrets.push(planted);
  return planted;
}

const key = (where: string, lineBreak = '\n'): string =>
  [
    '-----BEGIN OPENSSH PRIVATE KEY-----',
    secret(where),
    'b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQ',
    '-----END OPENSSH PRIVATE KEY-----',
  ].join(lineBreak);

/** Returns annotations with secrets in all forms. */
const annotations = (of: string) => ({
  'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify({
    a: secret(`${of} applied`),
  }),
  'example.com/token': secret(`${of} annotation`),
  'example.com/config': JSON.stringify({ password: secret(`${of} annotation of JSON`) }),
  'example.com/url': `https://ann:${secret(`${of} annotation of a URL`)}@h/p`,
  'example.com/key': key(`${of} annotation of a key`),
});

const object = (kind: string, name: string, more: object = {}, namespace?: string) => ({
  apiVersion: 'v1',
  kind,
  metadata: {
    name,
    uid: `uid-${name}`,
    annotations: annotations(kind),
    ...(namespace && { namespace }),
  },
  ...more,
});

const url = (of: string) =>
  `https://ann:${secret(`${of} user`)}@images.example/${of}.raw?X-Amz-Signature=${secret(`${of} query`)}`;

const container = (of: string) => ({
  name: 'stowage',
  args: [
    'watch',
    `--salt-url=https://u:${secret(`${of} argument of a URL`)}@salt:8000`,
    '--api-token',
    secret(`${of} argument`),
    `--password=${secret(`${of} argument with =`)}`,
  ],
  env: [
    { name: 'STOWAGE_SALT_URL', value: `https://u:${secret(`${of} own variable`)}@salt:8000` },
    { name: 'STOWAGE_TRANSPORT', value: 'salt' },
    { name: 'GREETING', value: secret(`${of} variable`) },
    { name: 'REFERENCE', valueFrom: { secretKeyRef: { name: 'stowage-salt', key: 'secret' } } },
  ],
  envFrom: [{ configMapRef: { name: 'variables' } }],
  ports: [{ name: 'http', containerPort: 8080 }],
});

const volume = volumeNamed('data1', { phase: 'Failed' });

const OBJECTS = {
  volumes: [
    {
      ...volume,
      metadata: { ...volume.metadata, annotations: annotations('Volume') },
      status: {
        ...volume.status,
        conditions: [
          {
            type: 'Ready',
            status: 'False',
            reason: 'CreationError',
            message: `curl: ${url('condition')}: 403`,
          },
        ],
      },
    },
  ],
  images: [
    object(
      'Image',
      'i',
      { spec: { source: { url: url('image'), authorizationSecretRef: { name: 's', key: 'k' } } } },
      'prod',
    ),
  ],
  archives: [object('Archive', 'a', { spec: { source: { url: url('archive') } } }, 'prod')],
  backups: [
    object(
      'Backup',
      'b',
      {
        spec: { to: { url: url('backup') } },
        status: { message: `PUT ${url('backup status')}: 403` },
      },
      'prod',
    ),
  ],
  populatordefinitions: [
    object('PopulatorDefinition', 'p', {
      spec: {
        pod: {
          args: ['--secret-key', secret('populator argument')],
          env: [{ name: 'A', value: secret('populator variable') }],
        },
      },
    }),
  ],
  storageclasses: [
    object('StorageClass', 'fast', {
      provisioner: 'volume.stowage.dev',
      parameters: { password: secret('parameter') },
    }),
  ],
  persistentvolumes: [object('PersistentVolume', 'data1', { spec: {} })],
  persistentvolumeclaims: [
    object('PersistentVolumeClaim', 'c', { spec: { volumeName: 'data1' } }, 'prod'),
  ],
  nodes: [nodeNamed('n1'), nodeNamed('n2')].map((node) => ({
    ...node,
    metadata: { ...node.metadata, annotations: annotations('Node') },
  })),
  deployments: [
    object(
      'Deployment',
      'stowage',
      {
        spec: {
          template: {
            metadata: { annotations: annotations('template') },
            spec: {
              containers: [container('Deployment')],
              volumes: [{ configMap: { name: 'ssh' } }],
            },
          },
        },
      },
      'stowage',
    ),
  ],
  pods: [
    object(
      'Pod',
      'stowage-0',
      {
        spec: { containers: [container('Pod')] },
        status: { containerStatuses: [{ name: 'stowage', restartCount: 1 }] },
      },
      'stowage',
    ),
  ],
  configmaps: [
    object(
      'ConfigMap',
      'ssh',
      {
        data: {
          config: `Host *\ntoken: ${secret('ConfigMap')}\n${key('ConfigMap key')}\n`,
          password: secret('ConfigMap field'),
        },
        binaryData: { a: secret('binary') },
      },
      'stowage',
    ),
    object(
      'ConfigMap',
      'variables',
      { data: { GREETING: secret('ConfigMap variable'), STOWAGE_TRANSPORT: 'salt' } },
      'stowage',
    ),
  ],
  leases: [object('Lease', 'stowage', { spec: { holderIdentity: 'h' } }, 'stowage')],
  events: [
    {
      ...object(
        'Event',
        'e',
        { involvedObject: { kind: 'Volume', name: 'data1', uid: volume.metadata.uid } },
        'default',
      ),
      reason: 'Failed',
      message: `GET ${url('event')}: Authorization: Bearer ${secret('event header')}`,
      source: { component: 'stowage' },
    },
  ],
};

const LOG = [
  `2030-01-01T00:00:00Z {"level":30,"msg":"GET ${url('log')}"}`,
  `2030-01-01T00:00:00Z {"level":30,"headers":{"authorization":"Basic ${secret('log header')}"}}`,
  `2030-01-01T00:00:00Z {"level":30,"err":{"message":"password=${secret('log message')} x"}}`,
  `2030-01-01T00:00:00Z plain --token ${secret('log flag')}`,
  `2030-01-01T00:00:00Z ${key('log key').replaceAll('\n', '\n2030-01-01T00:00:00Z ')}`,
  `2030-01-01T00:00:00Z {"stderr":"${key('log key of JSON', '\\n')}"}`,
  `2030-01-01T00:00:00Z truncated {"token":"${secret('log without end')}`,
].join('\n');

const TOKEN = secret('kubeconfig');

const POD = '/api/v1/namespaces/stowage/pods/stowage-0';

let cluster: PlantedCluster;
let files: Record<string, string>;
let printed: { code: number; out: string; err: string };
const executor = fakeExecutor({
  n1: {
    probes: {
      ...OK,
      loops: result(1, '', `losetup: password=${secret('node answer')}`),
      kernel: result(0, `Authorization: Bearer ${secret('node output')}\n`),
    },
  },
  n2: new NodeError('unreachable', 'n2', `ssh https://u:${secret('node error')}@n2: no answer`),
});

beforeAll(async () => {
  cluster = await plantedCluster({
    objects: OBJECTS,
    texts: {
      [`${POD}/log`]: LOG,
      [`${POD}:8080/proxy/metrics`]: `stowage_up{url="${url('metrics')}"} 1\n`,
    },
    refused: {
      volumesnapshots: `not for Authorization: Bearer ${TOKEN}`,
    },
    token: TOKEN,
  });
  const file = join(cluster.folder, 'bundle.tar.gz');
  printed = await cluster.stowage(['support-bundle', '-f', file], { executor });
  files = await unpacked(file, cluster.folder);
});
afterAll(() => cluster.stop());

test('the archive has all its parts', () => {
  expect(printed).toMatchObject({ code: 0, out: expect.stringMatching(/bundle\.tar\.gz\n$/) });
  expect(
    Object.keys(files)
      .filter((path) => !path.startsWith('objects/'))
      .toSorted(),
  ).toEqual([
    'README.txt',
    'cluster.json',
    'errors.txt',
    'logs/stowage_stowage-0_stowage.log',
    'logs/stowage_stowage-0_stowage.previous.log',
    'metrics/stowage_stowage-0.txt',
    'nodes/n1.json',
    'nodes/n2.json',
    'versions.json',
    'why.json',
  ]);
  for (const plural of Object.keys(OBJECTS)) {
    const { items } = JSON.parse(files[`objects/${plural}.json`] ?? '{}');
    expect([plural, items.length]).toEqual([plural, OBJECTS[plural as 'pods'].length]);
  }
});

test('secrets are planted in what the cluster sends', () => {
  const ofNodes = secrets.filter((planted) => /-node-(answer|output|error)$/.test(planted));
  const sent = secrets.filter((planted) => cluster.sent().includes(planted));
  const unsent = secrets.filter((planted) => !sent.includes(planted));
  expect(unsent).toEqual(ofNodes);
  expect(sent.length).toBeGreaterThan(60);
  expect(executor.asked.length).toBeGreaterThan(0);
});

test('no planted secret is in the archive, or printed', () => {
  const texts = { ...files, 'standard output': printed.out, 'standard error': printed.err };
  const found = Object.entries(texts).flatMap(([path, text]) =>
    secrets.filter((planted) => text.includes(planted)).map((planted) => `${path}: ${planted}`),
  );
  expect(found).toEqual([]);
  expect(Object.entries(texts).filter(([, text]) => text.includes('hunter2'))).toEqual([]);
});

test('texts around secrets stay', () => {
  expect(files['objects/images.json']).toContain(
    '"url": "https://REMOVED@images.example/image.raw?REMOVED"',
  );
  expect(files['objects/images.json']).toContain('"authorizationSecretRef"');
  const deployment = files['objects/deployments.json'];
  expect(deployment).toContain('"name": "stowage-salt"');
  expect(deployment).toContain('"value": "salt"');
  expect(deployment).toContain('"--salt-url=https://REMOVED@salt:8000"');
  expect(files['objects/configmaps.json']).toContain('"STOWAGE_TRANSPORT": "salt"');
  expect(files['objects/events.json']).toContain('GET https://REMOVED@images.example/event.raw');
  expect(files['logs/stowage_stowage-0_stowage.log']?.split('\n')).toEqual([
    '2030-01-01T00:00:00Z {"level":30,"msg":"GET https://REMOVED@images.example/log.raw?REMOVED"}',
    '2030-01-01T00:00:00Z {"level":30,"headers":{"authorization":"REMOVED"}}',
    '2030-01-01T00:00:00Z {"level":30,"err":{"message":"password=REMOVED"}}',
    '2030-01-01T00:00:00Z plain --token REMOVED',
    '2030-01-01T00:00:00Z REMOVED',
    '2030-01-01T00:00:00Z {"stderr":"REMOVED"}',
    '2030-01-01T00:00:00Z truncated {"token":"REMOVED',
  ]);
});

test('no request asks for Secrets, and none writes', () => {
  expect(cluster.seen.length).toBeGreaterThan(30);
  expect(cluster.seen.filter(({ url }) => /secrets/i.test(url))).toEqual([]);
  const writes = cluster.seen.filter(({ method }) => method !== 'GET');
  expect(new Set(writes.map(({ url }) => url.replace(/\?.*/, '')))).toEqual(
    new Set(['/apis/authorization.k8s.io/v1/selfsubjectaccessreviews']),
  );
});
