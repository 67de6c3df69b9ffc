import { copyFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { execa } from 'execa';
import { quoteAll } from '../../../src/nodes/quote.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { until } from '../../support/until.ts';
import { addNode, newRoot, pack, type Root } from './root.ts';
import { NODE, type Scene, startScene, WITHIN } from './scene.ts';

/** Address of this machine in its VMs. */
const HOST = '10.0.2.2';
const UNIT = '/etc/systemd/system/stowage.service';

let scene: Scene;
let root: Root;
let folder: Awaited<ReturnType<typeof temporaryDirectory>>;

/** Runs a line as root in the VM, which is both the daemon's machine and the node. */
const type = (line: string) => {
  const shell = ['sh', '-euc', `export HOME=/root KUBECONFIG=/root/.kube/config; cd; ${line}`];
  return execa('ssh', ['-F', scene.vm.configFile, NODE, quoteAll(shell)], { timeout: WITHIN });
};

beforeAll(async () => {
  folder = await temporaryDirectory('systemd');
  const packed = await pack(folder.path);
  [scene, root] = await Promise.all([startScene(), newRoot()]);
  const { plane, vm } = scene;
  await addNode(root);
  const usr = root.outside('usr/local');
  const env = { PATH: `${usr}/bin:${process.env.PATH}` };
  await execa('npm', ['install', '--global', '--offline', '--prefix', usr, packed.file], { env });
  const send = 'tar -C "$1" -c . | ssh -F "$2" "$3" tar -C /usr/local -x --no-same-owner';
  await execa('sh', ['-c', send, 'sh', usr, vm.configFile, NODE]);
  const kubeconfig = join(folder.path, 'kubeconfig');
  await copyFile(plane.kubeconfig, kubeconfig);
  const config = (...args: string[]) =>
    execa(plane.kubectl, ['--kubeconfig', kubeconfig, 'config', ...args]);
  const { stdout: cluster } = await config('view', '-o', 'jsonpath={.clusters[0].name}');
  const server = plane.url.replace('127.0.0.1', HOST);
  await config(
    'set-cluster',
    cluster,
    `--server=${server}`,
    '--tls-server-name=kubernetes.default.svc',
  );
  await type('mkdir -p .kube');
  await vm.run(['sh', '-c', 'umask 077; cat >/root/.kube/config'], {
    input: await readFile(kubeconfig, 'utf8'),
  });
  await type(`echo '127.0.0.1 ${NODE}' >>/etc/hosts`);
}, 1_800_000);
afterAll(async () => {
  await scene?.stop();
  await root?.remove();
  await folder?.remove();
});

test(
  'the steps of docs/installing.md for the systemd service lead to a bound claim',
  async () => {
    const { guide, vm } = scene;
    await type('stowage install --components crds');
    const lines = guide.commands('The daemon on a machine');
    const key = lines.findIndex((line) => line.startsWith('ssh-keygen '));
    const checks = lines.findIndex((line) => line.includes('--trust-host-key'));
    const service = lines.findIndex((line) => line.includes('stowage.service'));
    for (const line of lines.slice(0, key + 1)) await type(line);
    const [config = ''] = guide.blocks('The daemon on a machine', 'sshconfig');
    await vm.run(['sh', '-c', 'cat >/etc/stowage/ssh/config'], { input: config });
    await type('cat /etc/stowage/ssh/key.pub >>.ssh/authorized_keys');
    const { stdout } = await type('ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub');
    const [fingerprint = ''] = /SHA256:\S+/.exec(stdout) ?? [];
    const [trusts = '', ...rest] = lines.slice(checks, service);
    // Later steps check whether the node answers in time.
    const trusted = await type(`${trusts.replace('SHA256:…', fingerprint)} || true`);
    expect(trusted.stderr).toContain('is now trusted');
    for (const line of rest) await type(line);
    // An emulated machine may be too slow for the default lease times.
    const slow = ['LEASE_DURATION=120s', 'RENEW_DEADLINE=90s'].map(
      (each) => `STOWAGE_LEADER_ELECTION_${each}\n`,
    );
    await vm.run(['sh', '-c', 'cat >/etc/stowage/environment'], { input: slow.join('') });
    for (const line of lines.slice(service)) await type(line);

    expect((await type(`systemd-analyze verify ${UNIT} 2>&1`)).stdout).not.toContain(
      'stowage.service',
    );
    const security = (await type('systemd-analyze security --no-pager stowage')).stdout;
    const [, exposure = '10'] =
      /exposure level for stowage\.service: ([\d.]+)/.exec(security) ?? [];
    expect([Number(exposure) < 2, security]).toEqual([true, expect.any(String)]);
    const shows = async (property: string) =>
      (await type(`systemctl show --value --property ${property} stowage`)).stdout;
    const status = (await type(`cat /proc/${await shows('MainPID')}/status`)).stdout;
    expect(status).not.toMatch(/^Uid:.*\t0\b/m);
    expect(status).toMatch(/^CapBnd:\s+0+$/m);
    expect(status).toMatch(/^NoNewPrivs:\s+1$/m);

    await scene.firstClaim((line) =>
      line.startsWith('kubectl ') ? scene.kubectl(...line.split(' ').slice(1)) : type(line),
    );

    const looks =
      'check node n1 --kubeconfig /etc/stowage/kubeconfig --ssh-config /etc/stowage/ssh/config';
    await until(
      'user stowage reaches the node',
      async () => {
        const { stdout: seen } = await type(`sudo -u stowage stowage ${looks} || true`);
        return /reachable.*it answers/.test(seen) ? true : undefined;
      },
      WITHIN,
    );

    // The daemon reloads its configuration, restarts after SIGKILL, and stops cleanly.
    const before = await shows('MainPID');
    await type('systemctl reload stowage');
    expect(await shows('MainPID')).toBe(before);
    await type('systemctl kill --signal=SIGKILL stowage');
    await until(
      'the daemon is restarted',
      async () =>
        ![before, '0'].includes(await shows('MainPID')) && (await shows('ActiveState')) === 'active'
          ? true
          : undefined,
      WITHIN,
    );
    await type('systemctl stop stowage');
    expect([await shows('Result'), await shows('ActiveState')]).toEqual(['success', 'inactive']);
    await type('systemctl disable --now stowage');
    // The daemon may not change the files that it reads.
    const changed =
      'find /etc/stowage/ssh /etc/stowage/kubeconfig ! -user root -o ! -group stowage -o -perm /0027';
    expect((await type(changed)).stdout).toBe('');
  },
  5 * WITHIN,
);

test('systemd-analyze verify reports no problem in deploy/stowage.service', async () => {
  const { stdout, stderr } = await execa(
    'systemd-analyze',
    ['verify', join(process.cwd(), 'deploy/stowage.service')],
    {
      reject: false,
    },
  );
  // This machine may have neither the program nor the user.
  const said = `${stdout}\n${stderr}`.split('\n').filter((line) => /stowage\.service/.test(line));
  expect(said.filter((line) => !/is not executable: No such file or directory/.test(line))).toEqual(
    [],
  );
});
