/**
 * `npm run panes [-- --node NAME --ssh-config FILE] [PANE…]`: runs the questions and live views on
 * a terminal (tmux). Writes its contents into the blocks of docs/ marked `<!-- pane NAME -->`.
 * The cluster is in memory. Its node is the given one (`npm run cluster -- up vm` has one, with
 * disks), else n1, which is this machine. The node is only read.
 */
import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { ALL_CRDS } from '../src/api/crds.ts';
import type { KubeObject } from '../src/api/meta.ts';
import { NODES, STORAGE_CLASSES, VOLUMES } from '../src/api/resources.ts';
import { connect } from '../src/kube/connect.ts';
import type { KubeClient } from '../src/kube/types.ts';
import { startSandbox } from '../src/sandbox/server.ts';
import { fresh } from '../test/support/snapshots.ts';
import { classNamed, ready, volumeNamed } from '../test/support/volumes.ts';

const PAGE = 'docs/questions.md';
const COLUMNS = 110;
const ROWS = 46;
const PATIENCE_MS = 120_000;

const { values, positionals } = parseArgs({
  options: { node: { type: 'string', default: 'n1' }, 'ssh-config': { type: 'string' } },
  allowPositionals: true,
});
const { node: NODE, 'ssh-config': SSH_CONFIG } = values;

interface Pane {
  command: string;
  /** Keys to send, each once the text before it is shown. */
  typed?: readonly (readonly [shown: string, text: string])[];
  /** Text on the complete pane. */
  until: string;
  /** Runs while the command does, before the pane is captured. */
  meanwhile?: (client: KubeClient) => Promise<void>;
}

const PANES: Record<string, Pane> = {
  'create-volume': {
    command: 'stowage create volume',
    typed: [
      ['Name of the Volume:', 'data1\r'],
      [`${NODE}  `, '\r'],
      ['Kind of storage:', '\r'],
      ['Size, such as 10Gi:', '10Gi\r'],
      ['Storage class:', '\r'],
    ],
    until: 'Create it?',
  },
  'create-volume-device': {
    command: `stowage create volume data2 --node ${NODE}`,
    typed: [['Kind of storage:', 'a disk\r']],
    until: 'another one, by its path',
  },
  'get-volumes': {
    command: 'stowage get volumes -w',
    until: 'Pending',
    meanwhile: async (client) => {
      const pending = {
        phase: 'Pending',
        job: 'PrepareVolume/1',
        ...ready('Unknown', 'Pending', 'mkfs.ext4'),
      };
      await client.patch(VOLUMES, 'logs', { status: pending }, { subresource: 'status' });
    },
  },
};

const folder = await mkdtemp(join(tmpdir(), 'stowage-panes-'));
const sandbox = await startSandbox({
  crds: ALL_CRDS,
  featureGates: { CrossNamespaceVolumeDataSource: true },
});
// Each pane has its own tmux server: a shared server that ends also ends the next pane's terminal.
let number = 0;
const tmux = (...argv: string[]): string =>
  execFileSync('tmux', ['-S', join(folder, `tmux-${number}`), '-f', '/dev/null', ...argv], {
    encoding: 'utf8',
  });
try {
  const kubeconfig = join(folder, 'kubeconfig');
  await writeFile(kubeconfig, sandbox.kubeconfig, { mode: 0o600 });
  await symlink(resolve('bin/stowage'), join(folder, 'stowage'));
  const { client } = await connect({ kubeconfig });
  await fill(client);
  let page = await readFile(PAGE, 'utf8');
  for (const [name, pane] of Object.entries(PANES)) {
    if (positionals.length > 0 && !positionals.includes(name)) continue;
    page = put(page, name, await taken(pane, kubeconfig, client));
    console.log(`${name}: taken`);
  }
  await writeFile(PAGE, page);
} finally {
  await sandbox.stop();
  await rm(folder, { recursive: true });
}

async function fill(client: KubeClient): Promise<void> {
  const object = (kind: string, name: string) => ({ apiVersion: 'v1', kind, metadata: { name } });
  await client.create<KubeObject>(NODES, object('Node', NODE));
  await client.create<KubeObject>(
    STORAGE_CLASSES,
    fresh(classNamed('local', { parameters: { fsType: 'ext4' } })),
  );
  for (const name of ['db', 'logs']) {
    await client.create<KubeObject>(VOLUMES, fresh(volumeNamed(name)));
  }
  const available = {
    phase: 'Available',
    deviceName: 'loop3',
    capacity: '1Gi',
    ...ready('True', 'Available'),
  };
  await client.patch(VOLUMES, 'db', { status: available }, { subresource: 'status' });
}

/** Returns the final contents of the terminal. */
async function taken(
  { command, typed = [], until, meanwhile }: Pane,
  kubeconfig: string,
  client: KubeClient,
): Promise<string> {
  const environment = Object.entries({
    KUBECONFIG: kubeconfig,
    HOME: folder,
    ...(SSH_CONFIG === undefined
      ? { STOWAGE_TRANSPORT: 'local', STOWAGE_LOCAL_NODE: NODE }
      : { STOWAGE_SSH_CONFIG: resolve(SSH_CONFIG) }),
    NO_COLOR: '1',
  }).flatMap(([name, value]) => ['-e', `${name}=${value}`]);
  // The shell that tmux starts sets its own PATH.
  const shown = `PATH='${folder}':"$PATH"; printf '$ %s\\n' '${command}'; ${command}; exec sleep 1000`;
  number++;
  tmux('new-session', '-d', '-x', String(COLUMNS), '-y', String(ROWS), ...environment, shown);
  try {
    for (const [text, keys] of typed) {
      await seen(text);
      tmux('send-keys', '-l', keys.replace('\r', ''));
      tmux('send-keys', 'Enter');
    }
    if (meanwhile !== undefined) {
      await seen('NAME');
      await meanwhile(client);
    }
    return await seen(until);
  } finally {
    tmux('kill-server');
  }
}

async function seen(text: string): Promise<string> {
  for (const end = Date.now() + PATIENCE_MS; ; await sleep(100)) {
    const shown = tmux('capture-pane', '-p');
    // A question is drawn at once, including its last line.
    if (shown.includes(text)) return shown.trimEnd();
    if (Date.now() > end)
      throw new Error(`there is no ${JSON.stringify(text)} on the terminal:\n${shown}`);
  }
}

/** Replaces the block of a pane in the page. */
function put(page: string, name: string, pane: string): string {
  const block = new RegExp(`(<!-- pane ${name} -->\n\`\`\`text\n).*?(^\`\`\`$)`, 'ms');
  if (!block.test(page)) throw new Error(`${PAGE} has no place for the pane ${name}`);
  return page.replace(block, (_, start: string, end: string) => `${start}${pane}\n${end}`);
}
