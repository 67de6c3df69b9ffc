/**
 * `npm run bench -- ui [MINUTES]`: the page of `stowage ui` with 10,000 Volumes. 100 of them change
 * each second, for a minute by default. The list is scrolled once a second, and filtered and sorted
 * in turn. Tasks, frames, the heap and the nodes of the document are from Chromium's own trace. The
 * API server is a sandbox in its own process.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { execa } from 'execa';
import { type Browser, chromium, type Page } from 'playwright-core';
import { VOLUMES } from '../../src/api/resources.ts';
import { connect } from '../../src/kube/connect.ts';
import type { KubeClient } from '../../src/kube/types.ts';
import { needPackages } from '../support/debian-packages.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';
import { mebibytes, ms, printFigures, quantile } from './figures.ts';
import { fillCluster } from './fill-cluster.ts';
import { startSandbox, usageOf } from './processes.ts';

const COUNT = 10_000;
const CHANGES_PER_SECOND = 100;
const MINUTES = Number(process.argv[2] ?? 1);
/** Longer tasks delay the answer to a key or a pointer so that people notice, in ms. */
const LONG = 50;
const MIB = 2 ** 20;

const CATEGORIES = [
  'devtools.timeline',
  'disabled-by-default-devtools.timeline',
  'disabled-by-default-devtools.timeline.frame',
];

interface TraceEvent {
  name: string;
  pid: number;
  tid: number;
  /** Start and duration, in µs. */
  ts: number;
  dur?: number;
  args?: {
    name?: string;
    data?: { jsHeapSizeUsed?: number; nodes?: number };
  };
}

/** Changes Volumes in turn, evenly over each second, until the signal. @returns their number */
async function change(client: KubeClient, stop: AbortSignal): Promise<number> {
  const began = performance.now();
  let changed = 0;
  while (!stop.aborted) {
    const due = ((performance.now() - began) / 1000) * CHANGES_PER_SECOND;
    const status = { job: `Provision/step-${changed}` };
    const batch = Array.from({ length: Math.floor(due) - changed }, (_, index) =>
      client.patch(
        VOLUMES,
        `volume-${((changed + index) * 7) % COUNT}`,
        { status },
        { subresource: 'status' },
      ),
    );
    changed += batch.length;
    await Promise.all([...batch, new Promise((resolve) => setTimeout(resolve, 50))]);
  }
  return changed;
}

/** Uses the list like a person, until `ends`, in ms of `performance.now`. */
async function use(page: Page, ends: number): Promise<void> {
  await page.mouse.move(400, 400);
  for (let round = 0; performance.now() < ends; round++) {
    await page.mouse.wheel(0, round % 20 < 10 ? 2000 : -2000);
    if (round % 20 === 5) await page.getByRole('button', { name: /^Node/ }).first().click();
    if (round % 20 === 15) await page.getByRole('searchbox').first().fill('volume-1');
    if (round % 20 === 17) await page.getByRole('searchbox').first().fill('');
    await page.waitForTimeout(1000);
  }
}

interface Minute {
  /** Durations of the tasks of the page's main thread, in ms. */
  tasks: number[];
  drawn: number;
  dropped: number;
  /** Least heap (bytes) and nodes of the document: what a collection leaves. */
  heap: number;
  nodes: number;
}

function readTrace(trace: Buffer): Minute {
  const events: TraceEvent[] = JSON.parse(trace.toString()).traceEvents;
  // The page's process is the one whose counters are traced; its main thread is named.
  const counters = events.filter(({ name, args }) => name === 'UpdateCounters' && args?.data);
  const pid = counters[0]?.pid;
  const thread = events.find(
    (event) =>
      event.pid === pid && event.name === 'thread_name' && event.args?.name === 'CrRendererMain',
  );
  const count = (name: string) => events.filter((event) => event.name === name).length;
  const least = (field: 'jsHeapSizeUsed' | 'nodes') =>
    Math.min(...counters.map(({ args }) => args?.data?.[field] ?? Number.POSITIVE_INFINITY));
  return {
    tasks: events
      .filter(({ name, tid, pid: of }) => name === 'RunTask' && of === pid && tid === thread?.tid)
      .map(({ dur = 0 }) => dur / 1000),
    drawn: count('DrawFrame'),
    dropped: count('DroppedFrame'),
    heap: least('jsHeapSizeUsed'),
    nodes: least('nodes'),
  };
}

function printMinute(name: string, { tasks, drawn, dropped, heap, nodes }: Minute): void {
  printFigures(
    name,
    ...[0.5, 0.99, 1].map((share) => ms(quantile(tasks, share))),
    ...[tasks.filter((each) => each > LONG).length, drawn, dropped, nodes].map(String),
    mebibytes(heap / MIB),
  );
}

const folder = await temporaryDirectory('bench');
const kubeconfig = join(folder.path, 'kubeconfig');
await needPackages({ chromium: 'chromium' });
const sandbox = await startSandbox(kubeconfig);
let browser: Browser | undefined;
const ui = spawn('bin/stowage', ['ui'], {
  env: { ...process.env, HOME: folder.path, KUBECONFIG: kubeconfig },
  stdio: ['ignore', 'pipe', 'inherit'],
});
const ended = once(ui, 'exit');
try {
  let out = '';
  ui.stdout.on('data', (data) => {
    out += data;
  });
  const { client } = await connect({ kubeconfig });
  await fillCluster(client, COUNT);
  const url = await until('the URL', async () => /^(http:\S+)\n/.exec(out)?.[1]);
  const { stdout: executablePath } = await execa('which', ['chromium']);
  // As root, Chromium has no sandbox. It only gets this page.
  browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  const page = await browser.newPage();
  await page.goto(url);
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  await page
    .getByRole('link', { name: /^Volumes/ })
    .first()
    .click();
  await page.getByText('10,000').first().waitFor();
  const before = await usageOf(ui.pid ?? 0);
  const began = performance.now();
  const stop = new AbortController();
  const changing = change(client, stop.signal);
  printFigures(
    '',
    ...['task p50', 'p99', 'longest', `over ${LONG} ms`, 'frames', 'dropped', 'nodes', 'heap'],
  );
  const tasks: number[] = [];
  for (let minute = 1; minute <= MINUTES; minute++) {
    await browser.startTracing(page, { categories: CATEGORIES });
    await use(page, began + minute * 60_000);
    const figures = readTrace(await browser.stopTracing());
    printMinute(`minute ${minute}`, figures);
    tasks.push(...figures.tasks);
  }
  const seconds = (performance.now() - began) / 1000;
  stop.abort();
  const changed = await changing;
  const after = await usageOf(ui.pid ?? 0);
  console.log(
    `${COUNT} Volumes, ${(changed / seconds).toFixed(0)} changes a second for ${seconds.toFixed(0)} s`,
  );
  const busy = tasks.reduce((sum, each) => sum + each, 0) / 1000 / (MINUTES * 60);
  printFigures('main thread busy', `${(busy * 100).toFixed(0)} %`);
  printFigures(
    'stowage ui: memory, CPU',
    mebibytes(before.rss),
    mebibytes(after.rss),
    `${(((after.cpu - before.cpu) / seconds) * 100).toFixed(0)} %`,
  );
} finally {
  await browser?.close();
  ui.kill('SIGINT');
  await ended;
  await sandbox.stop();
  await folder.remove();
}
