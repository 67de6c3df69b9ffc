import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { execa } from 'execa';
import { parseAllDocuments } from 'yaml';
import { settleValues, type Values } from '../../../src/cli/install/values.ts';
import { stowage } from '../../support/fake-io.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

/** Manifests for the daemon's options, which need no cluster. */

let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
beforeAll(async () => {
  folder = await temporaryDirectory('values');
});
afterAll(() => folder.remove());

const PRINT = ['install', '--components', 'deployment', '--dry-run=client'];
const SALT = ['--transport', 'salt', '--salt-url', 'https://salt:8000'];

async function deployment(...flags: string[]) {
  const { code, out, err } = await stowage([...PRINT, ...flags]);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  const objects = parseAllDocuments(out).map((each) => each.toJS());
  const { metadata, spec } = objects.find(({ kind }) => kind === 'Deployment');
  const pod = spec.template.spec;
  const [container] = pod.containers;
  const args: string[] = container.args;
  return { metadata, spec, pod, container, args: args.slice(4) };
}

async function file(content: string): Promise<string> {
  const path = join(folder.path, `${Math.random()}.yaml`);
  await writeFile(path, content);
  return path;
}

test('install without flags sets no replicas, annotations or extra arguments', async () => {
  const { metadata, spec, args } = await deployment();
  expect(metadata.annotations).toBeUndefined();
  expect(spec.replicas).toBeUndefined();
  expect(args).toEqual(['--ssh-config=/etc/stowage/ssh/config']);
});

const SSH = '--ssh-config=/etc/stowage/ssh/config';
const GATES = 'CrossNamespaceVolumeDataSource=true';

test.each<[string[], string[]]>([
  [
    ['--feature-gates', GATES],
    [SSH, `--feature-gates=${GATES}`],
  ],
  [
    ['--controllers', '*,-leftover'],
    [SSH, '--controllers=*,-leftover'],
  ],
  [
    ['--log-level', 'debug'],
    [SSH, '--verbose'],
  ],
  [['--cross-namespace-snapshot=false'], [SSH, '--cross-namespace-snapshot=false']],
  [['--cross-namespace-snapshot'], [SSH, '--cross-namespace-snapshot=true']],
  [['--log-level', 'info'], [SSH]],
  [['--ssh-guard'], [SSH, '--ssh-guard']],
])('install %j sets the arguments of the daemon', async (flags, expected) => {
  expect((await deployment(...flags)).args).toEqual(expected);
});

test('install sets replicas, node selector and resources of the pod', async () => {
  const flags = [
    '--replicas',
    '2',
    '--node-selector',
    'role=storage',
    '--limits',
    'memory=1Gi,cpu=1',
  ];
  const { spec, pod, container } = await deployment(...flags, '--requests', 'cpu=100m');
  expect(spec.replicas).toBe(2);
  expect(pod.nodeSelector).toEqual({ role: 'storage' });
  expect(container.resources).toEqual({
    requests: { cpu: '100m', memory: '128Mi' },
    limits: { memory: '1Gi', cpu: '1' },
  });
});

test('install names no user, whose entry for ssh is written when the pod starts', async () => {
  const { pod, container } = await deployment('--limits', 'cpu=1');
  expect(JSON.stringify(pod)).not.toMatch(/runAsUser|runAsGroup|fsGroup|supplementalGroups/);
  const [user] = pod.initContainers;
  // Quotas count each container.
  expect(user).toMatchObject({ image: container.image, resources: container.resources });
  expect(user.volumeMounts).toEqual([{ name: 'user', mountPath: '/run/stowage-user' }]);
  expect(container.volumeMounts).toContainEqual({
    ...{ name: 'user', mountPath: '/etc/passwd', subPath: 'passwd', readOnly: true },
  });
  const [shell, flag, script] = user.command;
  await execa(shell, [flag, script.replace('/run/stowage-user', folder.path)]);
  const [uid, gid] = [process.getuid?.(), process.getgid?.()];
  expect(await readFile(join(folder.path, 'passwd'), 'utf8')).toBe(
    `stowage:x:${uid}:${gid}::/nonexistent:/usr/sbin/nologin\n`,
  );
});

test('install writes no entry for a daemon without ssh', async () => {
  const { pod } = await deployment(...SALT, '--salt-secret', 'salt');
  expect(pod).not.toHaveProperty('initContainers');
  expect(JSON.stringify(pod)).not.toContain('/etc/passwd');
});

test('install gives all objects and the pods labels, beside its own', async () => {
  const argv = ['install', '--dry-run=client', '--labels', 'team=storage,cost-center=7'];
  const { code, out } = await stowage(argv);
  expect(code).toBe(0);
  const objects = parseAllDocuments(out).map((each) => each.toJS());
  expect(objects.length).toBeGreaterThan(10);
  for (const { metadata } of objects) {
    expect(metadata.labels).toMatchObject({
      ...{ team: 'storage', 'cost-center': '7', 'app.kubernetes.io/managed-by': 'stowage' },
    });
  }
  const { spec } = objects.find(({ kind }) => kind === 'Deployment');
  expect(spec.template.metadata.labels).toEqual({
    ...{ team: 'storage', 'cost-center': '7', 'app.kubernetes.io/name': 'stowage' },
  });
  expect(spec.selector.matchLabels).toEqual({ 'app.kubernetes.io/name': 'stowage' });
});

test('install labels other components, too', async () => {
  const argv = ['install', '--components', 'crds', '--dry-run=client', '--labels', 'team=storage'];
  const { code, out } = await stowage(argv);
  expect({ code, labels: out.match(/team: storage/g) }).toMatchObject({ code: 0 });
  expect(out.match(/team: storage/g)).toHaveLength(3);
});

describe('install configures access to nodes', () => {
  const mountOf = ({ container }: Awaited<ReturnType<typeof deployment>>, name: string) =>
    container.volumeMounts.find((each: { name: string }) => each.name === name)?.mountPath;

  test('over ssh with another Secret', async () => {
    const { pod } = await deployment('--ssh-secret', 'keys');
    expect(pod.volumes[0]).toEqual({
      name: 'ssh',
      secret: { secretName: 'keys', defaultMode: 0o444 },
    });
  });

  test('over Salt with a shared secret and a CA', async () => {
    const found = await deployment(...SALT, '--salt-secret', 'salt', '--salt-ca-configmap', 'ca');
    expect(found.args).toEqual([
      '--transport=salt',
      '--salt-url=https://salt:8000',
      '--salt-secret-file=/etc/stowage/salt/secret',
      '--salt-ca-file=/etc/stowage/salt-ca/ca.crt',
    ]);
    expect(found.pod.volumes.slice(0, -1)).toEqual([
      { name: 'salt', secret: { secretName: 'salt', defaultMode: 0o444 } },
      { name: 'salt-ca', configMap: { name: 'ca' } },
    ]);
    expect([mountOf(found, 'salt'), mountOf(found, 'salt-ca'), mountOf(found, 'ssh')]).toEqual([
      '/etc/stowage/salt',
      '/etc/stowage/salt-ca',
      undefined,
    ]);
  });

  test('over Salt with a token of the ServiceAccount, which the kubelet renews', async () => {
    const { args, pod } = await deployment('-n', 'storage', ...SALT, '--salt-audience', 'salt-api');
    expect(args.slice(2, -1)).toEqual([
      '--salt-eauth=kubernetes_token',
      '--salt-user=system:serviceaccount:storage:stowage',
    ]);
    const token = { audience: 'salt-api', expirationSeconds: 3600, path: 'secret' };
    expect(pod.volumes[0]).toEqual({
      name: 'salt',
      projected: { defaultMode: 0o444, sources: [{ serviceAccountToken: token }] },
    });
  });
});

test('a values file sets what flags set, and flags take precedence', async () => {
  const path = await file(`
replicas: 3
limits: {cpu: 1}
featureGates: {CrossNamespaceVolumeDataSource: true}
nodeSelector: {role: storage, node-role.kubernetes.io/control-plane: ''}
`);
  const { metadata, spec, args } = await deployment('--values', path, '--replicas', '2');
  expect(spec.replicas).toBe(2);
  expect(args).toEqual([SSH, `--feature-gates=${GATES}`]);
  expect(JSON.parse(metadata.annotations['stowage.dev/install-values'])).toEqual({
    replicas: 2,
    limits: { cpu: '1' },
    featureGates: { CrossNamespaceVolumeDataSource: true },
    nodeSelector: { role: 'storage', 'node-role.kubernetes.io/control-plane': '' },
  });
});

test('install ignores STOWAGE_ variables of the local environment', async () => {
  const { code, out } = await stowage(PRINT, { env: { STOWAGE_TRANSPORT: 'salt' } });
  expect({ code, salt: out.includes('salt') }).toEqual({ code: 0, salt: false });
});

const URL = { transport: 'salt', saltUrl: 'https://salt:8000' } as const;

test.each<[string, Values, Values, Values]>([
  [
    'a token in place of a Secret',
    { ...URL, saltEauth: 'pam', saltUser: 'stowage', saltSecret: 'salt' },
    { saltAudience: 'salt-api' },
    { ...URL, saltAudience: 'salt-api' },
  ],
  [
    'a Secret in place of a token',
    { ...URL, saltEauth: 'tokens', saltAudience: 'salt-api' },
    { saltSecret: 'salt', saltEauth: 'pam', saltUser: 'stowage' },
    { ...URL, saltEauth: 'pam', saltUser: 'stowage', saltSecret: 'salt' },
  ],
  [
    'another Secret',
    { ...URL, saltEauth: 'pam', saltUser: 'stowage', saltSecret: 'salt' },
    { saltSecret: 'next' },
    { ...URL, saltEauth: 'pam', saltUser: 'stowage', saltSecret: 'next' },
  ],
  [
    'memory beside CPU',
    { requests: { cpu: '100m', memory: '1Gi' }, limits: { cpu: '1' } },
    { requests: { memory: '2Gi' } },
    { requests: { cpu: '100m', memory: '2Gi' }, limits: { cpu: '1' } },
  ],
])('install keeps earlier values that are compatible with %s', (_, kept, given, expected) => {
  expect(settleValues(kept, given)).toEqual(expected);
});

test.each<[string[], string]>([
  [['--transport', 'local'], '--transport local is not for an installed daemon'],
  [['--transport', 'salt'], 'requires --salt-url, and one of --salt-secret and --salt-audience'],
  [[...SALT, '--salt-secret', 'a', '--salt-audience', 'b'], 'requires --salt-url, and one of'],
  [
    ['--transport', 'salt', '--salt-url', 'http://salt', '--salt-secret', 'a'],
    '--salt-url http://salt is not an https:// URL',
  ],
  [['--salt-user', 'x'], '--salt-user is for --transport salt, but the transport is ssh'],
  [
    [...SALT, '--salt-secret', 'a', '--ssh-secret', 'b'],
    '--ssh-secret is for --transport ssh, but the transport is salt',
  ],
  [['--controllers', 'volumes'], 'unknown controller "volumes"'],
  [['--feature-gates', 'Some=true'], '"Some" is not a feature gate'],
  [
    ['--labels', 'app.kubernetes.io/name=x'],
    'Stowage itself sets the label app.kubernetes.io/name',
  ],
  // Administrators of any namespace would get the rights of the daemon.
  [
    ['--labels', 'rbac.authorization.k8s.io/aggregate-to-admin=true'],
    'rbac.authorization.k8s.io/aggregate-to-admin would change rights',
  ],
  [
    ['--labels', 'stowage.dev/aggregate-to-populator=true'],
    'stowage.dev/aggregate-to-populator would change rights',
  ],
  [['--labels', 'team'], 'Write labels as key=value'],
  [['--requests', 'disk=1'], 'Write cpu=…,memory=…'],
  [
    ['--components', 'rbac', '--replicas', '2'],
    'Settings of the daemon require the component deployment',
  ],
  [['--salt-secret-file', 'x'], '--salt-secret-file requires --take-over-metalk8s'],
  [['--values', '/nowhere'], '--values /nowhere cannot be read: ENOENT'],
])('install refuses the flags %j', async (flags, message) => {
  const own = flags[0] === '--components' ? ['install', '--dry-run=client'] : PRINT;
  const { code, out, err } = await stowage([...own, ...flags]);
  expect({ code, out }).toEqual({ code: flags[0] === '--values' ? 1 : 2, out: '' });
  expect(err).toContain(message);
});

test.each([
  ['replica: 2', 'replica: unknown field; the fields are: replicas, transport'],
  ['featureGates: {Some: true}', 'featureGates.Some: unknown field'],
  ['transport: local', 'transport: it must be one of ssh, salt'],
  ['sshSecret: A', 'sshSecret: it must be the name of an object'],
  ['limits: {cpu: true}', 'limits.cpu: it must be a string'],
  ['[1]', 'it must be a mapping'],
  ['{', 'Flow map must end with a }'],
])('install refuses a values file with %j', async (content, message) => {
  const { code, err } = await stowage([...PRINT, '--values', await file(content)]);
  expect(code).toBe(2);
  expect(err).toContain(`.yaml: ${message}`);
});
