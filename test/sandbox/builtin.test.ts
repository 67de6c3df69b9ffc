import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Sandbox, startSandbox } from '../../src/sandbox/server.ts';
import { onNode } from '../support/volumes.ts';
import { type Answer, type Client, clientFor } from './client.ts';

const CORE = '/api/v1';
const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/default/leases';
const CLASSES = '/apis/storage.k8s.io/v1/storageclasses';
const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';
const CLAIMS = `${CORE}/namespaces/default/persistentvolumeclaims`;
const MERGE = { 'content-type': 'application/merge-patch+json' };
const STRATEGIC = { 'content-type': 'application/strategic-merge-patch+json' };

let sandbox: Sandbox;
let client: Client;
beforeAll(async () => {
  sandbox = await startSandbox({ crds: [] });
  client = clientFor(sandbox);
});
afterAll(async () => {
  await client.close();
  await sandbox.stop();
});

/** The code, and the first field that is complained about. */
function shown({ code, body }: Answer) {
  const field = body.details?.causes?.[0]?.field;
  return field === undefined ? code : `${code} ${field}`;
}
const post = (path: string, body: object) => client.request('POST', path, body);

// One server for all of them: none is of the name of another.
const metadata = { generateName: 'x-' };
const volume = (spec: object) => ({
  metadata,
  spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/x' }, ...spec },
});
/** Of a class of which there is no volume. */
const claim = (spec: object) => ({
  metadata,
  spec: {
    accessModes: ['ReadWriteOnce'],
    storageClassName: 'nowhere',
    resources: { requests: { storage: '1Gi' } },
    ...spec,
  },
});
const deployment = (spec: object) => ({
  metadata,
  spec: {
    selector: { matchLabels: { app: 'x' } },
    template: { metadata: { labels: { app: 'x' } }, spec: { containers: [] } },
    ...spec,
  },
});
const rule = { verbs: ['get'], apiGroups: [''], resources: ['pods'] };
const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'r' };

test.each<[string, string, object, number | string]>([
  ['volume', `${CORE}/persistentvolumes`, volume({}), 201],
  ['volume of no size', `${CORE}/persistentvolumes`, volume({ capacity: {} }), '422 spec.capacity[storage]'],
  [
    'volume of size 0',
    `${CORE}/persistentvolumes`,
    volume({ capacity: { storage: '0' } }),
    '422 spec.capacity[storage]',
  ],
  ['volume of no quantity', `${CORE}/persistentvolumes`, volume({ capacity: { storage: '1 GB' } }), 400],
  ['volume of two sources', `${CORE}/persistentvolumes`, volume({ local: { path: '/' } }), '422 spec.local'],
  [
    'local volume of no node',
    `${CORE}/persistentvolumes`,
    volume({ hostPath: undefined, local: { path: '/' } }),
    '422 spec.nodeAffinity',
  ],
  [
    'volume of an odd mode',
    `${CORE}/persistentvolumes`,
    volume({ accessModes: ['Any'] }),
    '422 spec.accessModes',
  ],
  ['claim', CLAIMS, claim({}), 201],
  ['claim of no size', CLAIMS, claim({ resources: {} }), '422 spec.resources[storage]'],
  ['claim of no quantity', CLAIMS, claim({ resources: { requests: { storage: 'much' } } }), 400],
  ['class', CLASSES, { metadata, provisioner: 'p' }, 201],
  [
    'class of an odd policy',
    CLASSES,
    { metadata, provisioner: 'p', reclaimPolicy: 'Recycle' },
    '422 reclaimPolicy',
  ],
  ['lease', LEASES, { metadata, spec: { renewTime: '2026-01-02T03:04:05.000006Z' } }, 201],
  ['lease of milliseconds', LEASES, { metadata, spec: { renewTime: '2026-01-02T03:04:05.006Z' } }, 400],
  [
    'lease of no duration',
    LEASES,
    { metadata, spec: { leaseDurationSeconds: 0 } },
    '422 spec.leaseDurationSeconds',
  ],
  ['role', `${RBAC}/clusterroles`, { metadata: { name: 'a:b' }, rules: [rule] }, 201],
  ['role of a bad name', `${RBAC}/clusterroles`, { metadata: { name: 'a/b' } }, '422 metadata.name'],
  [
    'role without verbs',
    `${RBAC}/clusterroles`,
    { metadata, rules: [{ ...rule, verbs: [] }] },
    '422 rules[0].verbs',
  ],
  [
    'role without groups',
    `${RBAC}/clusterroles`,
    { metadata, rules: [{ ...rule, apiGroups: [] }] },
    '422 rules[0].apiGroups',
  ],
  [
    'role of paths',
    `${RBAC}/clusterroles`,
    { metadata, rules: [{ verbs: ['get'], nonResourceURLs: ['/x'] }] },
    201,
  ],
  [
    'namespaced role of paths',
    `${RBAC}/namespaces/default/roles`,
    { metadata, rules: [{ verbs: ['get'], nonResourceURLs: ['/x'] }] },
    '422 rules[0].nonResourceURLs',
  ],
  [
    'binding',
    `${RBAC}/clusterrolebindings`,
    { metadata, roleRef, subjects: [{ kind: 'User', name: 'u' }] },
    201,
  ],
  [
    'binding of a role',
    `${RBAC}/clusterrolebindings`,
    { metadata, roleRef: { ...roleRef, kind: 'Role' } },
    '422 roleRef.kind',
  ],
  [
    'binding of an account nowhere',
    `${RBAC}/clusterrolebindings`,
    { metadata, roleRef, subjects: [{ kind: 'ServiceAccount', name: 's' }] },
    '422 subjects[0].namespace',
  ],
  ['deployment', DEPLOYMENTS, deployment({}), 201],
  ['deployment without selector', DEPLOYMENTS, deployment({ selector: undefined }), '422 spec.selector'],
  [
    'deployment of other labels',
    DEPLOYMENTS,
    deployment({ selector: { matchLabels: { app: 'y' } } }),
    '422 spec.template.metadata.labels',
  ],
  ['namespace of two labels', `${CORE}/namespaces`, { metadata: { name: 'a.b' } }, '422 metadata.name'],
  [
    'configmap of an odd key',
    `${CORE}/namespaces/default/configmaps`,
    { metadata, data: { 'a b': '' } },
    '422 data[a b]',
  ],
  [
    'secret that is not encoded',
    `${CORE}/namespaces/default/secrets`,
    { metadata, data: { a: 'plain' } },
    400,
  ],
  [
    'event elsewhere',
    `${CORE}/namespaces/kube-system/events`,
    { metadata, involvedObject: { kind: 'Pod', namespace: 'default', name: 'p' } },
    '422 involvedObject.namespace',
  ],
])('%s', async (_, path, body, expected) => expect(shown(await post(path, body))).toBe(expected));

test('a secret is read back encoded, whatever it was written as', async () => {
  const path = `${CORE}/namespaces/default/secrets`;
  const { body } = await post(path, {
    metadata,
    stringData: { a: 'b' },
    data: { c: 'ZA==' },
  });
  expect(body).toMatchObject({ type: 'Opaque', data: { a: 'Yg==', c: 'ZA==' } });
  expect(body).not.toHaveProperty('stringData');
});

describe('what cannot be changed', () => {
  const class1 = { metadata, provisioner: 'p', parameters: { a: 'b' } };
  const binding = { metadata, roleRef };
  const sealed = { metadata, data: { a: 'YQ==' }, immutable: true };
  test.each<[string, string, object, object, number | string]>([
    [
      'source',
      `${CORE}/persistentvolumes`,
      volume({}),
      { spec: { hostPath: { path: '/y' } } },
      '422 spec.persistentvolumesource',
    ],
    ['mode', `${CORE}/persistentvolumes`, volume({}), { spec: { volumeMode: 'Block' } }, '422 volumeMode'],
    [
      'affinity',
      `${CORE}/persistentvolumes`,
      volume({ nodeAffinity: onNode('n1') }),
      { spec: { nodeAffinity: null } },
      '422 nodeAffinity',
    ],
    [
      'absent affinity may',
      `${CORE}/persistentvolumes`,
      volume({}),
      { spec: { nodeAffinity: onNode('n1') } },
      200,
    ],
    [
      'capacity may',
      `${CORE}/persistentvolumes`,
      volume({}),
      { spec: { capacity: { storage: '2Gi' } } },
      200,
    ],
    ['access modes', CLAIMS, claim({}), { spec: { accessModes: ['ReadWriteMany'] } }, '422 spec'],
    [
      'class of a claim',
      CLAIMS,
      claim({ storageClassName: 'a' }),
      { spec: { storageClassName: 'b' } },
      '422 spec',
    ],
    [
      'absent class may',
      CLAIMS,
      claim({ storageClassName: undefined }),
      { spec: { storageClassName: 'b' } },
      200,
    ],
    [
      'size of a claim that is not bound',
      CLAIMS,
      claim({}),
      { spec: { resources: { requests: { storage: '2Gi' } } } },
      '422 spec',
    ],
    [
      'spelling of a size may',
      CLAIMS,
      claim({}),
      { spec: { resources: { requests: { storage: '1024Mi' } } } },
      200,
    ],
    ['provisioner', CLASSES, class1, { provisioner: 'q' }, '422 provisioner'],
    ['parameters', CLASSES, class1, { parameters: { a: 'c' } }, '422 parameters'],
    ['reclaimPolicy', CLASSES, class1, { reclaimPolicy: 'Retain' }, '422 reclaimPolicy'],
    ['default that is taken away', CLASSES, class1, { reclaimPolicy: null }, 200],
    ['binding mode', CLASSES, class1, { volumeBindingMode: 'WaitForFirstConsumer' }, '422 volumeBindingMode'],
    ['expansion may', CLASSES, class1, { allowVolumeExpansion: true }, 200],
    [
      'role of a binding',
      `${RBAC}/clusterrolebindings`,
      binding,
      { roleRef: { name: 'other' } },
      '422 roleRef',
    ],
    [
      'selector',
      DEPLOYMENTS,
      deployment({}),
      { spec: { selector: { matchLabels: null } } },
      '422 spec.selector',
    ],
    ['sealed data', `${CORE}/namespaces/default/secrets`, sealed, { data: { a: 'Yg==' } }, '422 data'],
    ['type of a secret', `${CORE}/namespaces/default/secrets`, { metadata }, { type: 'other' }, '422 type'],
  ])('%s', async (_, path, object, change, expected) => {
    const { code, body } = await post(path, object);
    expect(code).toBe(201);
    const answer = await client.request('PATCH', `${path}/${body.metadata.name}`, change, MERGE);
    expect(shown(answer)).toBe(expected);
  });
});

test('a bound claim grows where its class allows it, and does not shrink below its volume', async () => {
  const grown = async (allowVolumeExpansion: boolean, sizes: string[]) => {
    const storageClassName = `expands-${allowVolumeExpansion}`;
    await post(CLASSES, { metadata: { name: storageClassName }, provisioner: 'p', allowVolumeExpansion });
    await post(`${CORE}/persistentvolumes`, volume({ storageClassName }));
    const { name } = (await post(CLAIMS, claim({ storageClassName }))).body.metadata;
    const codes = [];
    for (const storage of sizes) {
      const change = { spec: { resources: { requests: { storage } } } };
      codes.push(shown(await client.request('PATCH', `${CLAIMS}/${name}`, change, MERGE)));
    }
    return codes;
  };
  expect(await grown(false, ['2Gi'])).toEqual([403]);
  expect(await grown(true, ['3Gi', '2Gi', '1Gi'])).toEqual([200, 200, '422 spec.resources.requests.storage']);
});

test('a deployment counts generations, and its labels merge by strategic patches', async () => {
  const { body } = await post(DEPLOYMENTS, deployment({}));
  const change = { spec: { template: { spec: { containers: [{ name: 'a' }] } } } };
  const path = `${DEPLOYMENTS}/${body.metadata.name}`;
  const patched = async (patch: object) => (await client.request('PATCH', path, patch, STRATEGIC)).body;
  expect((await patched(change)).metadata.generation).toBe(2);
  const { metadata, spec } = await patched({ spec: { template: { spec: { containers: [{ name: 'b' }] } } } });
  expect([metadata.generation, spec.template.spec.containers]).toEqual([3, [{ name: 'b' }, { name: 'a' }]]);
});

test('a path that is no URL is 400', async () => {
  expect((await client.request('GET', `${CORE}/nodes/%zz`)).code).toBe(400);
  expect((await client.request('GET', `${CORE}/namespaces/%zz/pods`)).code).toBe(400);
});
