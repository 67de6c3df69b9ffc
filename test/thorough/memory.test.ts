import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { delimiter, join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { execa } from 'execa';
import { request } from 'undici';
import { VOLUME_API_VERSION } from '../../src/api/names.ts';
import { PERSISTENT_VOLUME_CLAIMS, VOLUMES } from '../../src/api/resources.ts';
import type { Volume } from '../../src/api/volume.ts';
import { startCluster, type TestCluster } from '../support/cluster.ts';
import { removeTraces } from '../support/remove-traces.ts';
import { describeAsRoot } from '../support/root.ts';
import { type Sshd, startSshd } from '../support/sshd.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { ensureUdev } from '../support/udev.ts';
import { until } from '../support/until.ts';

/** Memory limit of the Deployment that `install` creates, in bytes. */
const LIMIT = 512n << 20n;
/** Version 1 of cgroups if the machine has it, or else version 2. */
const CGROUPS = existsSync('/sys/fs/cgroup/memory')
  ? { folder: '/sys/fs/cgroup/memory/stowage-memory', limit: 'memory.limit_in_bytes' }
  : { folder: '/sys/fs/cgroup/stowage-memory', limit: 'memory.max' };

/** An ssh with an endless response from n2: a node that an attacker controls. */
const SSH = `#!/bin/sh
case " $* " in *" HostKeyAlias=n2 "*) exec yes "" ;; esac
exec "$REAL_SSH" "$@"
`;

describeAsRoot('a daemon with the memory limit of its Deployment', () => {
  let stopUdev: () => Promise<void>;
  let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
  let sshd: Sshd;
  let cluster: TestCluster;
  let daemon: ReturnType<typeof startDaemon>;
  let port: number;
  let log = '';
  const uids: string[] = [];

  beforeAll(async () => {
    stopUdev = await ensureUdev();
    folder = await temporaryDirectory('memory');
    sshd = await startSshd({ nodes: ['n1', 'n2'] });
    await writeFile(join(folder.path, 'ssh'), SSH);
    await chmod(join(folder.path, 'ssh'), 0o755);
    cluster = await startCluster({ nodes: ['n1', 'n2'] });
    await mkdir(CGROUPS.folder);
    await writeFile(join(CGROUPS.folder, CGROUPS.limit), String(LIMIT));
  });
  afterEach(async () => {
    // Printed for the reader: the peak depends on the times of garbage collection.
    const [most] = /^VmHWM:.*$/m.exec(await readFile(`/proc/${daemon.pid}/status`, 'utf8')) ?? [];
    process.stderr.write(`${expect.getState().currentTestName}: ${most}\n`);
    daemon?.kill('SIGTERM');
    await daemon;
  });
  afterAll(async () => {
    await cluster?.stop();
    await sshd?.stop();
    for (const uid of uids) await removeTraces(uid, join(folder.path, uid));
    await rmdir(CGROUPS.folder);
    await stopUdev?.();
    await folder?.remove();
  });

  function startDaemon(realSsh: string) {
    const flags = ['--ssh-config', sshd.configFile, '--http-endpoint', '127.0.0.1:0'];
    const enter = 'echo $$ >"$0/cgroup.procs"; exec bin/stowage watch "$@"';
    return execa('sh', ['-c', enter, CGROUPS.folder, ...flags], {
      env: {
        KUBECONFIG: cluster.kubeconfig,
        REAL_SSH: realSsh,
        PATH: `${folder.path}${delimiter}${process.env.PATH}`,
      },
      reject: false,
      forceKillAfterDelay: false,
    });
  }
  async function expectAlive(): Promise<void> {
    const end = await Promise.race([daemon, undefined]);
    if (end !== undefined)
      throw new Error(`the daemon ended with ${end.signal ?? end.exitCode}: ${log.slice(-2000)}`);
  }
  async function start(): Promise<void> {
    const { stdout } = await execa('sh', ['-c', 'command -v ssh']);
    log = '';
    daemon = startDaemon(stdout);
    daemon.stderr?.on('data', (chunk) => {
      log += chunk;
    });
    port = await until('the daemon serves HTTP', async () => {
      await expectAlive();
      return Number(/"port":(\d+),"metricsPath"/.exec(log)?.[1]) || undefined;
    });
  }
  const ask = async (path: string) => {
    const { statusCode, body } = await request(`http://127.0.0.1:${port}${path}`);
    await body.dump();
    return statusCode;
  };
  const ready = () =>
    until('the daemon is ready', async () => {
      await expectAlive();
      return (await ask('/readyz').catch(() => 0)) === 200 ? true : undefined;
    });
  async function create(name: string, nodeName: string): Promise<void> {
    const { metadata } = await cluster.client.create<Volume>(VOLUMES, {
      apiVersion: VOLUME_API_VERSION,
      kind: 'Volume',
      metadata: { name },
      spec: {
        nodeName,
        storageClassName: 'local',
        sparseLoopDevice: { size: '16Mi', directory: folder.path },
      },
    });
    uids.push(metadata.uid ?? '');
  }
  const phase = async (name: string) =>
    (await cluster.client.get<Volume>(VOLUMES, name)).status?.phase;
  const available = (name: string) =>
    until(`${name} is Available`, async () =>
      (await phase(name)) === 'Available' ? true : undefined,
    );

  test('keeps running while 300 connections request metrics 40,000 times each', async () => {
    await start();
    await ready();
    const connections = Array.from({ length: 300 }, () => connect(port, '127.0.0.1'));
    const closed = connections.map(
      (socket) => new Promise((resolve) => socket.on('error', resolve).on('close', resolve)),
    );
    for (const socket of connections)
      socket.write('GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(40_000));
    await Promise.all(closed);
    await ready();
    await create('asked', 'n1');
    await available('asked');
  });

  test('keeps running while a node responds endlessly, and serves other nodes', async () => {
    await start();
    for (const name of ['endless1', 'endless2', 'endless3', 'endless4']) await create(name, 'n2');
    await until('the condition reports the response', async () => {
      const { status } = await cluster.client.get<Volume>(VOLUMES, 'endless1');
      const told = status?.conditions?.find(({ type }) => type === 'Ready');
      return told?.message?.startsWith('node n2 answered with more than 4 MiB') ? told : undefined;
    });
    await create('beside', 'n1');
    await available('beside');
    await ready();
  });

  describe('with 1,500 claims of 250 kB, in various fields', () => {
    /** Fields that the daemon reads, and one that it does not read. */
    const LARGE: readonly { metadata?: object; spec?: object }[] = [
      { metadata: { annotations: { a: 'x'.repeat(250_000) } } },
      { metadata: { annotations: { 'volume.kubernetes.io/selected-node': 'x'.repeat(250_000) } } },
      { metadata: { annotations: { 'stowage.dev/populates': 'x'.repeat(250_000) } } },
      {
        metadata: {
          ownerReferences: Array.from({ length: 500 }, (_, index) => ({
            ...{ apiVersion: 'v1', kind: 'Pod', name: 'n'.repeat(450), uid: `${index}` },
          })),
        },
      },
      {
        metadata: {
          finalizers: Array.from({ length: 4000 }, (_, index) => `a.b/${'f'.repeat(50)}${index}`),
        },
      },
      {
        spec: {
          selector: {
            matchExpressions: Array.from({ length: 2500 }, (_, index) => ({
              ...{ key: `k${index}`, operator: 'In', values: ['v'.repeat(60)] },
            })),
          },
        },
      },
    ];
    const large = (index: number) => LARGE[index % LARGE.length];
    beforeAll(async () => {
      for (let index = 0; index < 1500; index++) {
        await cluster.client.create(
          PERSISTENT_VOLUME_CLAIMS,
          {
            apiVersion: 'v1',
            kind: 'PersistentVolumeClaim',
            metadata: { name: `large-${index}`, ...large(index)?.metadata },
            spec: {
              accessModes: ['ReadWriteOnce'],
              storageClassName: 'none',
              resources: { requests: { storage: '1Mi' } },
              ...large(index)?.spec,
            },
          },
          { namespace: 'default' },
        );
      }
    }, 600_000);
    test('starts and works', async () => {
      await start();
      await ready();
      await create('late', 'n1');
      await available('late');
    });
  });
});
