import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createNodeExecutor } from '../../src/model/node-executor.ts';
import type { SshAddress } from '../../src/nodes/transport/ssh-shell.ts';
import { systemClock } from '../../src/workqueue/clock.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

let folder: { path: string; remove(): Promise<void> };
const { PATH, XDG_RUNTIME_DIR } = process.env;

beforeAll(async () => {
  folder = await temporaryDirectory('executor');
  const ssh = join(folder.path, 'ssh');
  await writeFile(
    ssh,
    `#!/bin/sh\ncase $* in *'-O exit'*) ;; *) echo "$*" >'${folder.path}/arguments' ;; esac\n`,
  );
  await chmod(ssh, 0o755);
  process.env.PATH = `${folder.path}:${PATH}`;
  process.env.XDG_RUNTIME_DIR = folder.path;
});
afterAll(async () => {
  process.env.PATH = PATH;
  if (XDG_RUNTIME_DIR === undefined) delete process.env.XDG_RUNTIME_DIR;
  else process.env.XDG_RUNTIME_DIR = XDG_RUNTIME_DIR;
  await folder.remove();
});

test('the configured address overrides the annotations of the Node, on each request', async () => {
  let configured: SshAddress = {};
  const executor = createNodeExecutor({
    transport: 'ssh',
    localNodes: [],
    nodeNamed: (name) => ({
      apiVersion: 'v1',
      kind: 'Node',
      metadata: {
        name,
        annotations: { 'stowage.dev/address': 'its.own', 'stowage.dev/port': '1022' },
      },
    }),
    addressOf: () => configured,
    clock: systemClock,
  });
  const sshArguments = async () => {
    await executor.subjects('n1').catch(() => {});
    return readFile(join(folder.path, 'arguments'), 'utf8');
  };
  expect(await sshArguments()).toMatch(/^-p 1022 .*HostKeyAlias=n1 .* -- its\.own sh\n$/);
  configured = { host: '10.0.0.1', configFile: '/etc/stowage/ssh' };
  expect(await sshArguments()).toMatch(
    /^-F \/etc\/stowage\/ssh -p 1022 .*HostKeyAlias=n1 .* -- 10\.0\.0\.1 sh\n$/,
  );
  await executor.close();
});
