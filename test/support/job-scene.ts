import { randomUUID } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from '@jest/globals';
import type { Executor, Job, Step } from '../../src/nodes/job.ts';
import { createLocalShell } from '../../src/nodes/transport/local-shell.ts';
import { createShellExecutor } from '../../src/nodes/transport/shell-executor.ts';
import { createSshShell } from '../../src/nodes/transport/ssh-shell.ts';
import { leftovers } from './leftovers.ts';
import { childrenOf, type Sshd, startSshd } from './sshd.ts';
import { temporaryDirectory } from './temporary-directory.ts';
import { until } from './until.ts';

export const NODE = 'n1';
/** Limit (ms) above that of any test: a request that waits until the limit fails its test. */
export const WITHIN = 600_000;

export interface Transport {
  connect(configFile: string): Executor;
  /** Kills the connection of this process to the node. */
  cut(sshd: Sshd): Promise<void>;
  /** Error code of an interrupted request. */
  lost: string;
}

export const TRANSPORTS: [string, Transport][] = [
  [
    'local',
    {
      connect: () => createShellExecutor(createLocalShell([NODE])),
      cut: () => kill(process.pid, 'sh'),
      lost: 'protocol',
    },
  ],
  [
    'ssh',
    {
      connect: (configFile) =>
        createShellExecutor(createSshShell({ configFile, addressOf: () => ({}) })),
      cut: ({ pid }) => kill(pid, 'sshd'),
      lost: 'unreachable',
    },
  ],
];

/** Kills the children of a process with this name. */
async function kill(parent: number, name: string): Promise<void> {
  for (const pid of await childrenOf(parent)) {
    if ((await readFile(`/proc/${pid}/comm`, 'utf8')).trim() === name) process.kill(pid, 'SIGKILL');
  }
}

/**
 * Registers the hooks of a block whose tests submit jobs. After each test, the jobs of its subject
 * are purged.
 */
export function jobScene(name: string, transport: Transport) {
  /** `here` is the directory of the running test. */
  const scene = { here: '', subject: '' } as {
    executor: Executor;
    sshd: Sshd;
    here: string;
    subject: string;
  };
  let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
  let numbers = 0;

  beforeAll(async () => {
    folder = await temporaryDirectory(name);
    scene.sshd = await startSshd({ nodes: [NODE] });
    scene.executor = transport.connect(scene.sshd.configFile);
  });
  afterAll(async () => {
    await scene.executor?.close();
    await scene.sshd?.stop();
    await folder?.remove();
  });
  beforeEach(async () => {
    scene.subject = randomUUID();
    scene.here = join(folder.path, scene.subject);
    await mkdir(scene.here);
  });
  afterEach(async () => {
    await writeFile(join(scene.here, 'go'), '');
    await until('the jobs of the test end', async () =>
      (await scene.executor.purge(NODE, scene.subject)) ? true : undefined,
    );
    expect((await leftovers()).filter((fault) => fault.includes(scene.subject))).toEqual([]);
  });

  const job = (...steps: Step[]): Job => ({
    key: { subject: scene.subject, id: `job-${numbers++}` },
    steps,
  });
  const step = (...argv: string[]): Step => ({ name: `run ${argv[0]}`, argv, preconditions: [] });
  const script = (text: string, ...args: string[]) =>
    step('sh', '-c', `cd '${scene.here}' && ${text}`, 'sh', ...args);
  /**
   * Returns a step that runs until the test writes `go`; `pids` lists the job's shell and the
   * program.
   */
  const waiting = () =>
    script('echo $PPID $$ >pids.new; mv pids.new pids; until [ -e go ]; do sleep 0.02; done');
  const text = (file: string) => readFile(join(scene.here, file), 'utf8').catch(() => '');
  const run = (submitted: Job) => scene.executor.submit(NODE, submitted, WITHIN);
  const pids = () =>
    until('the program runs', async () => {
      const [shell, program] = (await text('pids')).split(' ').map(Number);
      return shell && program ? { shell, program } : undefined;
    });
  const ended = (submitted: Job) =>
    until('the job ends', async () => {
      const [state] = await scene.executor.poll(NODE, [submitted.key], 1000);
      return state?.state === 'running' ? undefined : state;
    });
  return Object.assign(scene, { job, step, script, waiting, text, run, pids, ended });
}
