import { chmod, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { execa } from 'execa';
import { VOLUMES } from '../../src/api/resources.ts';
import type { Volume } from '../../src/api/volume.ts';
import { sparseVolume, startCluster, type TestCluster } from '../support/cluster.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';

/**
 * The daemon with an `ssh` that fails in ways that a real one cannot be made to fail. Needs no
 * root.
 */

let cluster: TestCluster;
let folder: { path: string; remove(): Promise<void> };

beforeAll(async () => {
  cluster = await startCluster();
  folder = await temporaryDirectory('watch');
});

afterAll(async () => {
  await cluster?.stop();
  await folder?.remove();
});

/** Starts `stowage watch` with a shell script as its ssh, which may write to `$log`. */
async function watchWith(name: string, script: string, flags: string[] = []) {
  const log = join(folder.path, `${name}.log`);
  const ssh = join(folder.path, 'ssh');
  await writeFile(log, '');
  await writeFile(
    ssh,
    `#!/bin/sh\nlog='${log}'\ncase $* in *'-O exit'*) exit 0 ;; esac\n${script}\n`,
  );
  await chmod(ssh, 0o755);
  const daemon = execa('bin/stowage', ['watch', '--retry-interval-start', '200ms', ...flags], {
    env: {
      KUBECONFIG: cluster.kubeconfig,
      PATH: `${folder.path}:${process.env.PATH}`,
      XDG_RUNTIME_DIR: folder.path,
    },
    reject: false,
    // The daemon has its own deadline.
    forceKillAfterDelay: false,
  });
  return { daemon, calls: async () => (await stat(log)).size, said: () => readFile(log, 'utf8') };
}

test('SIGTERM stops the daemon during a hanging node call, without a write', async () => {
  const { daemon, calls } = await watchWith('hang', 'printf x >>"$log"; exec sleep 60');
  await cluster.client.create(VOLUMES, sparseVolume('hang', 'n1', '1Gi'));
  await until('the node is called', async () => ((await calls()) > 0 ? true : undefined));
  const before = await cluster.client.get<Volume>(VOLUMES, 'hang');
  daemon.kill('SIGTERM');
  const { exitCode, stderr } = await daemon;
  expect(exitCode).toBe(0);
  expect(stderr).toContain('"msg":"stopped"');
  expect((await cluster.client.get<Volume>(VOLUMES, 'hang')).metadata.resourceVersion).toBe(
    before.metadata.resourceVersion,
  );
  await remove('hang');
});

test('a node with a different error each time causes no frequent writes or calls', async () => {
  const { daemon, calls } = await watchWith(
    'words',
    'printf x >>"$log"; echo "pid $$: no route" >&2; exit 255',
  );
  await cluster.client.create(VOLUMES, sparseVolume('words', 'n1', '1Gi'));
  const told = await until('Ready has reason NodeUnreachable', async () => {
    const volume = await cluster.client.get<Volume>(VOLUMES, 'words');
    return volume.status?.conditions?.[0]?.reason === 'NodeUnreachable' ? volume : undefined;
  });
  // Retries start at one second and double: the fourth call comes more than 6 s after the first.
  // Without delays there would be hundreds.
  await until('four calls to the node', async () => ((await calls()) >= 4 ? true : undefined));
  expect(await calls()).toBeLessThan(8);
  const later = await cluster.client.get<Volume>(VOLUMES, 'words');
  expect(later.metadata.resourceVersion).toBe(told.metadata.resourceVersion);
  daemon.kill('SIGTERM');
  expect((await daemon).exitCode).toBe(0);
  await remove('words');
});

test('SIGHUP reloads the configuration, and an invalid one is logged and ignored', async () => {
  const config = join(folder.path, 'config.yaml');
  await writeFile(config, 'nodes: {n1: {address: first.example}}\n');
  const { daemon, said } = await watchWith('config', 'echo "$*" >>"$log"; exit 255', [
    '--config',
    config,
  ]);
  const asks = (host: string) =>
    until(`ssh is called for ${host}`, async () =>
      (await said()).includes(`-- ${host} sh`) ? true : undefined,
    );
  let errors = '';
  daemon.stderr?.on('data', (chunk) => {
    errors += chunk;
  });
  const logs = (text: string) =>
    until(`the daemon logs ${text}`, async () => (errors.includes(text) ? true : undefined));
  await cluster.client.create(VOLUMES, sparseVolume('config', 'n1', '1Gi'));
  await asks('first.example');
  await writeFile(config, 'nodes: {n1: {address: second.example}}\n');
  daemon.kill('SIGHUP');
  await logs('configuration reloaded');
  await asks('second.example');
  await writeFile(config, 'nodes: {n1: {port: all}}\n');
  daemon.kill('SIGHUP');
  await logs('nodes.n1.port: It must be a whole number');
  await writeFile(config, 'nodes: {n1: {address: third.example}}\n');
  // Reloads without a signal.
  await asks('third.example');
  daemon.kill('SIGTERM');
  expect((await daemon).exitCode).toBe(0);
  await remove('config');
});

test('SIGHUP without a configuration reloads the kubeconfig', async () => {
  const { daemon } = await watchWith('hangup', 'exit 255', ['--leader-election=false']);
  let errors = '';
  daemon.stderr?.on('data', (chunk) => {
    errors += chunk;
  });
  const logs = (text: string) =>
    until(`the daemon logs ${text}`, async () => (errors.includes(text) ? true : undefined));
  await logs('"msg":"watching"');
  daemon.kill('SIGHUP');
  await logs('kubeconfig reloaded');
  daemon.kill('SIGTERM');
  expect((await daemon).exitCode).toBe(0);
});

/** Deletes a Volume. No daemon removes its finalizer. */
async function remove(name: string): Promise<void> {
  await cluster.client.delete(VOLUMES, name);
  await cluster.client.patch(VOLUMES, name, { metadata: { finalizers: null } });
}
