/**
 * `npm run picture`: runs commands against a cluster and a node as in the demo, on a terminal, and
 * draws what it shows as docs/terminal.svg. `-- --print` prints the text instead. Needs root.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { makeDisk } from '../test/support/disks.ts';
import { Stage } from './demo/stage.ts';
import { startCluster, startNode } from './demo/world.ts';
import { COLUMNS, terminalSvg } from './terminal-svg.ts';

const PICTURE = 'docs/terminal.svg';
const FAILED = '--for=jsonpath={.status.phase}=Failed';

const folder = await mkdtemp(join(tmpdir(), 'stowage-picture-'));
const stage = new Stage(folder, false);
stage.onEnd(() => rm(folder, { recursive: true }));
console.log = () => {};

/** Runs a command on a terminal, and returns the prompt with it and what the terminal shows. */
async function typed(command: string): Promise<string> {
  const { stdout } = await execa(
    'script',
    ['-qec', `stty cols ${COLUMNS}; ${command}`, '/dev/null'],
    { env: { ...stage.env, TERM: 'xterm' }, reject: false, stdin: 'ignore' },
  );
  return `\u001b[32m$\u001b[0m \u001b[1m${command}\u001b[0m\n${stdout.trimEnd()}\n`;
}

try {
  await startCluster(stage);
  await startNode(stage);
  await stage.run('stowage', 'create', 'storageclass', 'local', '--static');
  const disk = await makeDisk(folder, 'disk', 512n << 20n);
  stage.onEnd(() => disk.remove());
  // Without a UUID, which would make the lines about it too wide.
  await execa('mkfs.ext4', ['-q', '-F', '-U', 'clear', disk.path]);
  const shown: string[] = [];
  for (const command of [
    'stowage create volume data1 --node n1 --size 10Gi --storage-class local --wait',
    `stowage create volume disk1 --node n1 --device ${disk.path} --storage-class local`,
    'stowage get volumes',
    'stowage why volume disk1',
  ]) {
    shown.push(await typed(command));
    if (command.includes('disk1'))
      await stage.run('kubectl', 'wait', 'volume/disk1', FAILED, '--timeout=30s');
  }
  // The disk goes before the daemon does.
  await stage.noteVolumes();
  await stage.run('stowage', 'delete', 'volumes', '--all', '--wait', '--timeout', '30s');
  const text = shown.join('');
  if (process.argv.includes('--print')) process.stdout.write(text);
  else await writeFile(PICTURE, terminalSvg(text, COLUMNS));
} finally {
  for (const error of await stage.end()) {
    console.error(error);
    process.exitCode = 1;
  }
}
