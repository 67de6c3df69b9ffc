import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { execa } from 'execa';
import { VOLUME_API_VERSION } from '../../src/api/names.ts';
import { VOLUMES } from '../../src/api/resources.ts';
import { connect } from '../../src/kube/connect.ts';
import { type Typed, onTerminal as typeOnTerminal } from '../support/terminal.ts';

let folder = '';
let env: Record<string, string> = {};
let sandbox: ReturnType<typeof startSandbox>;

const startSandbox = (kubeconfig: string) =>
  execa('bin/stowage', ['sandbox', '--port', '0', '--kubeconfig-out', kubeconfig], {
    reject: false,
  });

const stowage = (...argv: string[]) => execa('bin/stowage', argv, { env, reject: false });
const onTerminal = (command: string, typed: readonly Typed[]) =>
  typeOnTerminal(command, typed, { env });
const kubectl = (...argv: string[]) => execa('kubectl', argv, { env });
const CREATE = ['--node', 'n1', '--size', '1Gi', '--storage-class', 'fast'];
const fullName = (name: string) => `volume.storage.metalk8s.scality.com/${name}`;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stowage-cli-'));
  const kubeconfig = join(folder, 'kubeconfig');
  sandbox = startSandbox(kubeconfig);
  // The sandbox prints a line once the file exists.
  await once(createInterface(sandbox.stderr), 'line');
  env = { KUBECONFIG: kubeconfig, HOME: folder };
});

afterAll(async () => {
  sandbox.kill('SIGINT');
  expect((await sandbox).exitCode).toBe(0);
  await rm(folder, { recursive: true, force: true });
});

test('the kubeconfig of a sandbox is readable only by its owner', async () => {
  expect((await stat(env.KUBECONFIG ?? '')).mode & 0o777).toBe(0o600);
});

test('a dry run creates nothing', async () => {
  for (const mode of ['client', 'server']) {
    const { exitCode, stdout } = await stowage(
      'create',
      'volume',
      'dry',
      ...CREATE,
      `--dry-run=${mode}`,
      '-o',
      'json',
    );
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout).spec.nodeName).toBe('n1');
  }
  expect(await stowage('get', 'volume', 'dry')).toMatchObject({ exitCode: 3, stdout: '' });
});

test('`create volume` creates what kubectl shows, and refuses an existing name', async () => {
  expect(await stowage('create', 'volume', 'data1', ...CREATE, '-l', 'app=db')).toMatchObject({
    exitCode: 0,
    stdout: `${fullName('data1')} created`,
    stderr: '',
  });
  const ours = JSON.parse((await stowage('get', 'volume', 'data1', '-o', 'json')).stdout);
  expect(ours.metadata.labels).toEqual({ app: 'db' });
  expect(JSON.parse((await kubectl('get', 'vol', 'data1', '-o', 'json')).stdout)).toEqual(ours);
  expect((await kubectl('get', 'vol', '-o', 'name')).stdout).toBe(fullName('data1'));

  const again = await stowage('create', 'volume', 'data1', ...CREATE);
  expect(again).toMatchObject({ exitCode: 5, stdout: '' });
  expect(again.stderr).toContain('already exists');
});

describe('get', () => {
  test('prints each output format', async () => {
    const get = async (...flags: string[]) =>
      (await stowage('get', 'volumes', '-l', 'app=db', ...flags)).stdout;
    expect(await get()).toMatch(
      /^NAME +NODE +PHASE +READY +DEVICE +CAPACITY +STORAGECLASS +AGE\ndata1 +n1 +Unknown /,
    );
    expect(await get('-o', 'wide')).toMatch(/ PATH +JOB +REASON\n/);
    expect(await get('-o', 'name')).toBe(fullName('data1'));
    expect(JSON.parse(await get('-o', 'json')).items).toHaveLength(1);
    expect(await get('-o', 'yaml')).toContain('kind: List');
  });

  test('reports an empty result', async () => {
    const { exitCode, stdout, stderr } = await stowage('get', 'vol', '-l', 'app=other');
    expect({ exitCode, stdout, stderr }).toEqual({
      exitCode: 0,
      stdout: '',
      stderr: 'No volumes found',
    });
  });

  test('exits quietly if the reader of its pipe has closed', async () => {
    const { stdout, stderr } = await execa(
      'bash',
      // The reader closes before any output.
      [
        '-c',
        'mkfifo "$0"; exec 3<>"$0" 4>"$0" 3<&-; bin/stowage get volumes >&4; echo $?',
        join(folder, 'fifo'),
      ],
      { env },
    );
    expect({ stdout, stderr }).toEqual({ stdout: '141', stderr: '' });
  });
});

test('`delete` refuses a Volume without a status, and deletes an Available one', async () => {
  const refused = await stowage('delete', 'volume', 'data1');
  expect(refused).toMatchObject({ exitCode: 5, stdout: '' });
  expect(refused.stderr).toContain(
    'Volume data1 cannot be deleted: its status is not known yet\nhint: ',
  );

  const { client } = await connect({ kubeconfig: env.KUBECONFIG });
  await client.patch(
    VOLUMES,
    'data1',
    { status: { phase: 'Available' } },
    { subresource: 'status' },
  );
  expect(await stowage('delete', 'volume', 'data1', '--wait', '--timeout', '120s')).toMatchObject({
    exitCode: 0,
    stdout: `${fullName('data1')} deleted`,
  });
  expect(await stowage('delete', 'volume', 'data1')).toMatchObject({ exitCode: 3, stdout: '' });
  expect(await stowage('delete', 'volume', 'data1', '--ignore-not-found')).toMatchObject({
    exitCode: 0,
  });
});

describe('`create volume --wait`', () => {
  test('exits with 6 after its timeout', async () => {
    const { exitCode, stderr } = await stowage(
      'create',
      'volume',
      'slow',
      ...CREATE,
      '--wait',
      '--timeout',
      '1s',
    );
    expect(exitCode).toBe(6);
    expect(stderr).toContain('slow: Unknown\n');
  });

  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('exits on %s with %d', async (signal, status) => {
    const name = signal.toLowerCase();
    const waiting = stowage('create', 'volume', name, ...CREATE, '--wait');
    for await (const line of createInterface(waiting.stderr))
      if (line === `${name}: Unknown`) break;
    waiting.kill(signal);
    expect(await waiting).toMatchObject({ exitCode: status, stdout: '' });
  });

  test('shows a spinner on a terminal, and restores the cursor', async () => {
    const command = `stty cols 80 rows 24; bin/stowage create volume tty ${CREATE.join(' ')} --wait --timeout 1s -o name >${folder}/out`;
    const { stdout, exitCode } = await execa('script', ['-qec', command, '/dev/null'], {
      env: { ...env, TERM: 'xterm' },
      reject: false,
    });
    expect(exitCode).toBe(6);
    expect(stdout).toContain('tty: Unknown');
    expect(stdout.lastIndexOf('\u001b[?25h')).toBeGreaterThan(stdout.lastIndexOf('\u001b[?25l'));
  });

  test('exits with 130 on Ctrl-C on a terminal, and restores the cursor', async () => {
    const command = `bin/stowage create volume ctrlc ${CREATE.join(' ')} --wait -o name >${folder}/out`;
    // Typed only once: at each Ctrl-C the terminal discards pending output (termios(3), NOFLSH),
    // possibly the cursor's.
    const { exitCode, shown } = await onTerminal(command, [['ctrlc: Unknown', '\u0003']]);
    expect(exitCode).toBe(130);
    expect(shown.lastIndexOf('\u001b[?25h')).toBeGreaterThan(shown.lastIndexOf('\u001b[?25l'));
  });
});

describe('questions on a terminal', () => {
  test('ask for missing values, and leave only data on standard output', async () => {
    const out = join(folder, 'asked');
    const { exitCode, shown } = await onTerminal(
      `bin/stowage create volume --node n1 --transport local --local-node n1 -o name >${out}`,
      [
        ['Name of the Volume:', 'asked\r'],
        ['Kind of storage:', '\r'],
        ['Size, such as 10Gi:', '10GB\r'],
        ['with a Kubernetes suffix', '\u007f\u007fGi\r'],
        ['Storage class:', 'fast\r'],
        ['When to attach the device to its node:', 'while\r'],
        ['Create it?', 'y\r'],
      ],
    );
    expect({
      exitCode,
      left: shown.lastIndexOf('\u001b[?25h') > shown.lastIndexOf('\u001b[?25l'),
    }).toEqual({
      exitCode: 0,
      left: true,
    });
    expect(await readFile(out, 'utf8')).toBe(`${fullName('asked')}\n`);
    const { stdout } = await stowage('get', 'volume', 'asked', '-o', 'json');
    expect(JSON.parse(stdout).spec).toEqual({
      nodeName: 'n1',
      storageClassName: 'fast',
      sparseLoopDevice: { size: '10Gi' },
      attachPolicy: 'OnDemand',
    });
  });

  test.each([
    ['Ctrl-C', '\u0003', 130, ''],
    ['Ctrl-D', '\u0004', 1, 'No answer was given: nothing was done'],
  ])('%s cancels the command', async (_, key, status, message) => {
    const command = 'bin/stowage create volume --no-color';
    const { exitCode, shown } = await onTerminal(command, [['Name of the Volume:', key]]);
    expect(exitCode).toBe(status);
    expect(shown).toContain(message);
    expect(shown).not.toContain('\u001b[3');
  });

  test('SIGTERM ends the command', async () => {
    const kill = (shown: string) =>
      process.kill(Number(/pid ([0-9]+)/.exec(shown)?.[1]), 'SIGTERM');
    const command = `sh -c 'echo pid $$; exec bin/stowage create volume'`;
    const { exitCode } = await onTerminal(command, [['Name of the Volume:', kill]]);
    expect(exitCode).toBe(143);
  });

  test('`delete` requires confirmation before it destroys data', async () => {
    expect(await stowage('create', 'volume', 'precious', ...CREATE)).toMatchObject({ exitCode: 0 });
    const { client } = await connect({ kubeconfig: env.KUBECONFIG });
    await client.patch(
      VOLUMES,
      'precious',
      { status: { phase: 'Available' } },
      { subresource: 'status' },
    );
    const no = await onTerminal('bin/stowage delete volume precious', [
      ['and destroy this data?', '\r'],
    ]);
    expect(no.exitCode).toBe(5);
    expect(no.shown).toContain('Volume precious on n1: its file is removed with all its data');
    expect(await stowage('get', 'volume', 'precious', '-o', 'name')).toMatchObject({ exitCode: 0 });
    const manifest = `{apiVersion: ${VOLUME_API_VERSION}, kind: Volume, metadata: {name: precious}}\n`;
    const typed = await onTerminal(`sh -c 'echo ready; exec bin/stowage delete -f -'`, [
      ['ready', manifest],
      ['precious}}', '\u0004'],
    ]);
    expect(typed.exitCode).toBe(1);
    expect(typed.shown).toContain('No answer was given');
    const yes = await onTerminal('bin/stowage delete volume precious', [
      ['and destroy this data?', 'y\r'],
    ]);
    expect(yes.exitCode).toBe(0);
    expect(await stowage('get', 'volume', 'precious')).toMatchObject({ exitCode: 3 });
  });
});

test('`create -f` creates a class and Volumes, and `delete -f` keeps a class in use', async () => {
  const { stdout: storageClass } = await stowage(
    'create',
    'storageclass',
    'local',
    '--static',
    '--mkfs-options=["-m","0"]',
    '--dry-run=client',
    '-o',
    'yaml',
  );
  const { stdout: volumes } = await stowage(
    'create',
    'volume',
    'm',
    '--node=n{1..2}',
    '--size=1Gi',
    '--storage-class=local',
    '--dry-run=client',
    '-o',
    'json',
  );
  const manifests = `${storageClass}\n---\n${volumes}\n`;
  const fed = (...argv: string[]) =>
    execa('bin/stowage', argv, { env, reject: false, input: manifests });
  expect(await fed('create', '-f', '-')).toMatchObject({
    exitCode: 0,
    stderr: '',
    stdout: `storageclass.storage.k8s.io/local created\n${fullName('m-n1')} created\n${fullName('m-n2')} created`,
  });
  expect(
    JSON.parse((await kubectl('get', 'storageclass', 'local', '-o', 'json')).stdout),
  ).toMatchObject({
    provisioner: 'kubernetes.io/no-provisioner',
    parameters: { fsType: 'ext4', mkfsOptions: '["-m","0"]' },
    volumeBindingMode: 'WaitForFirstConsumer',
  });
  const again = await fed('create', '-f', '-');
  expect(again).toMatchObject({ exitCode: 5, stdout: '' });
  expect(again.stderr).toContain('error: 3 of 3 failed');

  const { client } = await connect({ kubeconfig: env.KUBECONFIG });
  await client.patch(
    VOLUMES,
    'm-n1',
    { status: { phase: 'Available' } },
    { subresource: 'status' },
  );
  const some = await fed('delete', '-f', '-');
  expect(some).toMatchObject({
    exitCode: 7,
    stdout: `${fullName('m-n1')} deleted`,
  });
  expect(some.stderr).toContain(
    'storage class local is not deleted: Volume m-n2 uses it and stays',
  );
  expect(some.stderr).toContain('Volume m-n2 cannot be deleted: its status is not known yet');
});

test('a usage error exits with 2, and a misspelled command gets a suggestion', async () => {
  expect(await stowage('get', 'volumes', '../pods')).toMatchObject({ exitCode: 2, stdout: '' });
  expect((await stowage('craete')).stderr).toContain('Did you mean create?');
});

test('a missing kubeconfig is an error that names the file, with a hint', async () => {
  const { exitCode, stderr } = await execa(
    'bin/stowage',
    ['get', 'vol', '--kubeconfig', '/nonexistent'],
    {
      reject: false,
    },
  );
  expect(exitCode).toBe(1);
  expect(stderr).toMatch(/^error: .*\/nonexistent.*\nhint: /);
});

test('compiled code is cached in the user’s cache directory', async () => {
  const home = join(folder, 'home');
  await execa('bin/stowage', ['--help'], { env: { HOME: home, XDG_CACHE_HOME: '' } });
  expect(existsSync(join(home, '.cache/stowage/compiled'))).toBe(true);
  await execa('bin/stowage', ['--help'], {
    env: { HOME: home, XDG_CACHE_HOME: join(home, 'xdg') },
  });
  expect(existsSync(join(home, 'xdg/stowage/compiled'))).toBe(true);
  // A user without a home has no cache.
  expect(
    (await execa('bin/stowage', ['--help'], { env: { HOME: '', XDG_CACHE_HOME: 'relative' } }))
      .exitCode,
  ).toBe(0);
  expect(existsSync('relative')).toBe(false);
});
