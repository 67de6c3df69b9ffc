import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { execa } from 'execa';
import { parseAllDocuments } from 'yaml';
import { VERSION } from '../../../src/api/version.ts';
import { freePorts } from '../../support/free-ports.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { until } from '../../support/until.ts';
import { type Containerd, NAMESPACE, startContainerd } from '../kubelet/containerd.ts';
import { image as vmImage } from '../vm/image.ts';
import { asImage, build, type ImageConfig } from './containerfile.ts';
import { addNode, newRoot, pack, type Root } from './root.ts';
import { NODE, type Scene, startScene, WITHIN } from './scene.ts';

const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';

let scene: Scene;
let root: Root;
let config: ImageConfig;
let containerd: Containerd;
let folder: Awaited<ReturnType<typeof temporaryDirectory>>;

const at = (path: string) => join(folder.path, path);
const ctr = (...args: string[]) =>
  execa('ctr', ['--address', containerd.socket, '--namespace', NAMESPACE, ...args], {
    reject: false,
  });

/**
 * Runs a container of the image as the kubelet does for the Deployment: unprivileged, with a
 * read-only root.
 */
const run = (id: string, options: string[], args: string[]) =>
  ctr(
    'run',
    '--rm',
    '--read-only',
    '--net-host',
    ...options,
    IMAGE,
    id,
    ...config.Entrypoint,
    ...args,
  );

const NAME = `stowage:${VERSION}`;
const IMAGE = `docker.io/library/${NAME}`;

beforeAll(async () => {
  folder = await temporaryDirectory('image');
  await mkdir(at('containerd'));
  const packed = await pack(folder.path);
  const stage = await newRoot();
  try {
    [scene, root] = await Promise.all([startScene(), newRoot()]);
    // The content that the Containerfile uses of docker.io/library/node.
    await addNode(stage);
    config = await build(
      'deploy/Containerfile',
      root,
      { node: (path) => stage.outside(path) },
      folder.path,
    );
  } finally {
    await stage.remove();
  }
  expect(packed.file).toContain(folder.path);
  containerd = await startContainerd(at('containerd'));
  const imported = await ctr('images', 'import', await asImage(root, config, NAME));
  expect([imported.exitCode, imported.stdout]).toEqual([0, expect.stringContaining(NAME)]);
}, 1_800_000);
afterAll(async () => {
  await ctr('task', 'kill', '--signal', 'SIGKILL', 'watch');
  await containerd?.stop();
  await scene?.stop();
  await root?.remove();
  await folder?.remove();
});

test('the image runs unprivileged, without setuid programs, npm, sshd, gcc or curl', async () => {
  expect(config).toMatchObject({ User: '65532:65532', Entrypoint: ['/usr/local/bin/stowage'] });
  const { stdout } = await root.type(
    'find / -xdev -type f -perm /6000; command -v npm sshd gcc curl || true; ls /opt /usr/local/bin',
  );
  expect(stdout).toBe('/opt:\nstowage\n\n/usr/local/bin:\nnode\nstowage');
  const version = await run('version', [], ['--version']);
  expect([version.exitCode, version.stdout]).toEqual([0, VERSION]);
  const status = await ctr(
    'run',
    '--rm',
    '--read-only',
    IMAGE,
    'status',
    'cat',
    '/proc/self/status',
  );
  expect(status.stdout).toMatch(/^Uid:\s+65532\s+65532\s+65532\s+65532$/m);
  expect(status.stdout).toMatch(/^CapEff:\s+0+$/m);
  const written = await ctr(
    'run',
    '--rm',
    '--read-only',
    IMAGE,
    'writes',
    'sh',
    '-c',
    'touch /opt/x',
  );
  expect(written.stderr + written.stdout).toContain('Read-only file system');
});

test(
  'the steps of docs/installing.md for the container image lead to a bound claim',
  async () => {
    const { guide, plane, vm } = scene;
    const lines = guide.commands('The daemon in the cluster');
    const type = (line: string) =>
      execa('sh', ['-euc', line], {
        cwd: folder.path,
        env: { KUBECONFIG: plane.kubeconfig, PATH: `${at('bin')}:${process.env.PATH}` },
      });
    await mkdir(at('bin'));
    await execa('ln', ['-s', join(process.cwd(), 'bin/stowage'), at('bin/stowage')]);
    await execa('ln', ['-s', plane.kubectl, at('bin/kubectl')]);
    // The guide's manual steps: an ssh configuration, and a key that the node accepts.
    const { clientKey, hostKey } = await vmImage();
    const [ssh = ''] = guide.blocks('The daemon on a machine', 'sshconfig');
    await writeFile(
      at('config'),
      `${ssh}Host ${NODE}\nHostName 127.0.0.1\nPort ${vm.port}\nHostKeyAlias ${NODE}\n`,
    );
    await execa('cp', [clientKey, at('key')]);
    await writeFile(at('known_hosts'), `${NODE} ${hostKey}\n`);
    const [packs, builds, ...rest] = lines;
    expect([packs, builds]).toEqual([
      'npm pack',
      `podman build --tag ${IMAGE} --file deploy/Containerfile .`,
    ]);
    expect(rest.at(-1)).toContain('rollout status');
    for (const line of rest.slice(0, -1)) await type(line);

    // The kubelet's part: the arguments of the Deployment, and the Secret and the account as files
    // of root that any user reads.
    const documents = parseAllDocuments(await readFile('deploy/daemon.yaml', 'utf8')).map((each) =>
      each.toJS(),
    );
    const pod = documents.find(({ kind }) => kind === 'Deployment').spec.template.spec;
    const [container] = pod.containers;
    expect(container.image).toBe(NAME);
    // The image's user, unless the cluster assigns one.
    expect(pod.securityContext).not.toHaveProperty('runAsUser');
    const secret = JSON.parse(
      String((await type('kubectl -n stowage get secret stowage-ssh -o json')).stdout),
    );
    await mkdir(at('ssh'));
    for (const [name, value] of Object.entries<string>(secret.data)) {
      await writeFile(at(`ssh/${name}`), Buffer.from(value, 'base64'), { mode: 0o444 });
    }
    await mkdir(at('account'));
    const token = await type('kubectl -n stowage create token stowage --duration 1h');
    await writeFile(at('account/token'), String(token.stdout));
    await writeFile(at('account/namespace'), 'stowage');
    const view = JSON.parse(String((await type('kubectl config view --raw -o json')).stdout));
    const [{ cluster }] = view.clusters;
    const ca = cluster['certificate-authority-data'];
    await writeFile(at('account/ca.crt'), Buffer.from(ca, 'base64'));

    const server = new URL(plane.url);
    const [port = 0] = await freePorts(1);
    const args = container.args.map((each: string) => each.replace(':8080', `127.0.0.1:${port}`));
    const daemon = run(
      'watch',
      [
        ...['--mount', `type=bind,src=${at('ssh')},dst=/etc/stowage/ssh,options=rbind:ro`],
        ...['--mount', `type=bind,src=${at('account')},dst=${SERVICE_ACCOUNT},options=rbind:ro`],
        ...['--mount', 'type=tmpfs,src=tmpfs,dst=/tmp,options=nosuid:nodev:mode=1777'],
        ...[
          '--env',
          `KUBERNETES_SERVICE_HOST=${server.hostname}`,
          '--env',
          `KUBERNETES_SERVICE_PORT=${server.port}`,
        ],
      ],
      args,
    );
    await until('the daemon is ready', async () => {
      const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined);
      return answer?.ok ? true : undefined;
    });
    await scene.firstClaim(type);
    await ctr('task', 'kill', '--signal', 'SIGTERM', 'watch');
    const { exitCode, stderr } = await daemon;
    expect([exitCode, stderr]).toEqual([0, expect.stringContaining('"msg":"watching"')]);
    expect((await type('stowage uninstall --yes')).stderr).toContain(
      'deployment.apps/stowage in namespace stowage removed',
    );
  },
  4 * WITHIN,
);

test('ssh runs as a user that the cluster assigns, with the entry that the pod writes', async () => {
  const [deployment] = parseAllDocuments(await readFile('deploy/daemon.yaml', 'utf8'))
    .map((each) => each.toJS())
    .filter(({ kind }) => kind === 'Deployment');
  const [user] = deployment.spec.template.spec.initContainers;
  const [{ mountPath }] = user.volumeMounts;
  /** Runs a program as such a user, in a container with these mounts. */
  async function assigned(id: string, mounts: readonly string[], argv: readonly string[]) {
    const options = ['--detach', '--read-only', ...mounts.flatMap((each) => ['--mount', each])];
    const started = await ctr('run', ...options, IMAGE, id, 'sleep', 'infinity');
    expect([started.exitCode, started.stderr]).toEqual([0, '']);
    const as = ['--user', '1000680000:0', '--exec-id', 'assigned'];
    const ran = await ctr('task', 'exec', ...as, id, ...argv);
    await ctr('task', 'delete', '--force', id);
    return ran;
  }
  const ssh = ['ssh', '-G', 'n1'];
  expect((await assigned('without', [], ssh)).stderr).toContain(
    'No user exists for uid 1000680000',
  );

  await mkdir(at('user'), { mode: 0o777 });
  await execa('chmod', ['0777', at('user')]);
  const bind = `type=bind,src=${at('user')},dst=${mountPath},options=rbind:rw`;
  expect(await assigned('user', [bind], user.command)).toMatchObject({ exitCode: 0, stderr: '' });
  const file = `type=bind,src=${at('user/passwd')},dst=/etc/passwd,options=rbind:ro`;
  const found = await assigned('with', [file], ssh);
  expect([found.exitCode, found.stdout]).toEqual([0, expect.stringContaining('user stowage')]);
});
