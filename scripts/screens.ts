/**
 * `npm run screens`: draws the screens of `stowage ui` as docs/screens/NAME-LOOK.webp, each light,
 * dark and narrow, from a cluster and a node as in the demo. Needs root.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { needPackages } from '../test/support/debian-packages.ts';
import { makeDisk } from '../test/support/disks.ts';
import { until } from '../test/support/until.ts';
import { Stage } from './demo/stage.ts';
import { startCluster, startNode } from './demo/world.ts';

const DIRECTORY = 'docs/screens';
const WIDE = { width: 1200, height: 760 };
const LOOKS: Readonly<Record<string, BrowserContextOptions>> = {
  light: { colorScheme: 'light', viewport: WIDE },
  dark: { colorScheme: 'dark', viewport: WIDE },
  narrow: { colorScheme: 'light', viewport: { width: 390, height: 760 } },
};

interface Shown {
  name: string;
  hash: string;
  /** Text that the screen has once it is complete. */
  text: RegExp;
  /** Buttons to press, each once the text before is there. */
  press?: readonly (readonly [button: string, text: RegExp])[];
  fill?: Readonly<Record<string, string>>;
}

const SCREENS: readonly Shown[] = [
  {
    ...{ name: 'overview', hash: '#/', text: /Available/ },
    press: [['Find causes', /Fix:/]],
  },
  { name: 'volumes', hash: '#/volumes', text: /\d Volumes/ },
  { name: 'volume', hash: '#/volumes/data1', text: /apiVersion/ },
  { name: 'blocked-volume', hash: '#/volumes/disk1', text: /^Fix$/ },
  { name: 'nodes', hash: '#/nodes', text: /\d nodes?/ },
  {
    ...{ name: 'node', hash: '#/nodes/n1', text: /Ready/ },
    press: [['List the devices', /refused: /]],
  },
  { name: 'claims', hash: '#/claims', text: /\d claims/ },
  { name: 'claim', hash: '#/claims/web/db-copy', text: /^Fix$/ },
  { name: 'snapshots', hash: '#/snapshots', text: /\d grant/ },
  { name: 'snapshot', hash: '#/snapshots/prod/nightly', text: /As stowage describe/ },
  { name: 'populators', hash: '#/populators', text: /\d populator/ },
  { name: 'attachments', hash: '#/attachments', text: /\d attachment/ },
  {
    ...{ name: 'create', hash: '#/volumes', text: /\d Volumes/ },
    press: [
      ['Create a Volume', /Storage class/],
      ['Show the plan', /Creates Volume data3/],
    ],
    fill: { Name: 'data3', Node: 'n1', Size: '10Gi', 'Storage class': 'local' },
  },
  {
    ...{ name: 'delete', hash: '#/volumes/data2', text: /apiVersion/ },
    press: [['Delete', /is removed with all its data/]],
  },
];

const claim = (name: string, namespace: string, rest: string) => `apiVersion: v1
kind: PersistentVolumeClaim
metadata: { name: ${name}, namespace: ${namespace}, annotations: { volume.kubernetes.io/selected-node: n1 } }
spec: { accessModes: [ReadWriteOnce], resources: { requests: { storage: 64Mi } }, ${rest} }
---
apiVersion: v1
kind: Pod
metadata: { name: ${name}-0, namespace: ${namespace} }
spec:
  nodeName: n1
  containers: [{ name: main, image: busybox }]
  volumes: [{ name: data, persistentVolumeClaim: { claimName: ${name} } }]
`;

const folder = await mkdtemp(join(tmpdir(), 'stowage-screens-'));
const stage = new Stage(folder, false);
stage.onEnd(() => rm(folder, { recursive: true }));
console.log = () => {};

const wait = (...args: string[]) => stage.run('kubectl', 'wait', ...args, '--timeout=60s');

/** Creates what the screens show. */
async function createObjects(): Promise<void> {
  const { stowage } = stage;
  for (const name of ['prod', 'test', 'web']) await stage.run('kubectl', 'create', 'ns', name);
  await stowage('create', 'storageclass', 'local', '--static');
  await stowage(
    ...['create', 'storageclass', 'fast', '--dynamic'],
    ...['--directory', join(folder, 'volumes')],
  );
  await stowage('create', 'snapshotclass', 'stowage', '--default');
  await stowage('register', 'populator', 'image', '--node', 'Image');
  const on = ['--node', 'n1', '--storage-class', 'local'];
  await stowage('create', 'volume', 'data1', ...on, '--size', '10Gi', '--wait');
  await stowage('create', 'volume', 'data2', ...on, '--size', '20Gi', '--wait');
  const onDemand = ['--attach-policy', 'OnDemand'];
  await stowage('create', 'volume', 'scratch', ...on, '--size', '1Gi', ...onDemand, '--wait');
  const disk = await makeDisk(folder, 'disk', 512n << 20n);
  stage.onEnd(() => disk.remove());
  await execa('mkfs.ext4', ['-q', '-F', '-U', 'clear', disk.path]);
  await stowage('create', 'volume', 'disk1', ...on, '--device', disk.path);
  await wait('volume/disk1', '--for=jsonpath={.status.phase}=Failed');
  await stage.apply(claim('db', 'prod', 'storageClassName: fast'));
  await stage.apply(claim('cache', 'web', 'storageClassName: local, volumeName: data1'));
  await stage.apply(claim('build', 'test', 'storageClassName: local, volumeName: scratch'));
  await wait('-n', 'prod', 'pvc/db', '--for=jsonpath={.status.phase}=Bound');
  await wait('volume/scratch', '--for=jsonpath={.status.attachments[0].state}=Attached');
  await stowage('create', 'snapshot', 'prod/nightly', '--pvc', 'db', '--wait');
  await stowage('grant', 'snapshot', 'prod/nightly', '--to', 'test');
  await stowage('restore', 'snapshot', 'prod/nightly', '--to', 'web/db-copy');
  const node = 'volume.kubernetes.io/selected-node=n1';
  await stage.run('kubectl', 'annotate', '-n', 'web', 'pvc', 'db-copy', node);
}

/** Starts `stowage ui`, and returns the URL that it prints. */
async function startUi(): Promise<string> {
  const ui = spawn('stowage', ['ui'], {
    env: { ...process.env, ...stage.env, STOWAGE_SSH_CONFIG: join(folder, 'ssh_config') },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(ui, 'exit');
  stage.onEnd(async () => {
    ui.kill('SIGINT');
    await ended;
  });
  let out = '';
  ui.stdout.on('data', (data) => {
    out += data;
  });
  return until('the URL', async () => /^(http:\S+)\n/.exec(out)?.[1]);
}

async function draw(page: Page, screen: Shown, look: string): Promise<void> {
  // The last screen's dialog is left first.
  await page.keyboard.press('Escape');
  await page.evaluate((hash) => {
    (globalThis as unknown as { location: { hash: string } }).location.hash = hash;
  }, screen.hash);
  await page.getByText(screen.text).first().waitFor();
  for (const [index, [name, text]] of (screen.press ?? []).entries()) {
    const inside = index === 0 ? page : page.getByRole('dialog');
    await inside.getByRole('button', { name, exact: true }).first().click();
    await page.getByText(text).first().waitFor();
    if (index === 0)
      for (const [label, value] of Object.entries(screen.fill ?? {}))
        await page.getByRole('dialog').getByLabel(label, { exact: true }).fill(value);
  }
  const devtools = await page.context().newCDPSession(page);
  const { data } = await devtools.send('Page.captureScreenshot', { format: 'webp', quality: 80 });
  await writeFile(join(DIRECTORY, `${screen.name}-${look}.webp`), Buffer.from(data, 'base64'));
}

try {
  await needPackages({ chromium: 'chromium' });
  await startCluster(stage);
  await startNode(stage);
  await createObjects();
  const { stdout: executablePath } = await execa('which', ['chromium']);
  // As root, Chromium has no sandbox. It only gets this page.
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  stage.onEnd(() => browser.close());
  await mkdir(DIRECTORY, { recursive: true });
  for (const [look, options] of Object.entries(LOOKS)) {
    const page = await (await browser.newContext(options)).newPage();
    await page.goto(await startUi());
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    for (const screen of SCREENS) await draw(page, screen, look);
  }
} catch (error) {
  console.error(error);
  process.exitCode = 1;
} finally {
  await stage.noteVolumes();
  for (const error of await stage.end()) {
    console.error(error);
    process.exitCode = 1;
  }
}
