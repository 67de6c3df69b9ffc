import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { expect } from '@jest/globals';
import { execa } from 'execa';
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Locator,
  type Page,
} from 'playwright-core';
import { needPackages } from './debian-packages.ts';
import { until } from './until.ts';

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

interface AxeResults {
  violations: { id: string; nodes: { html: string; failureSummary: string }[] }[];
}

/** `stowage ui`, as a program of its own, and Debian's Chromium. */
export interface UiPages {
  /** Dialogs of scripts, errors of scripts, and violations of the page's policy, so far. */
  problems: string[];
  /** URL that the program printed first. `open` uses it up. */
  firstUrl: string;
  /** Stops the program until the function that it returns is called. */
  sleep(): () => void;
  /**
   * Opens the page in a context of its own, as in another browser, without its policy: axe-core is
   * injected, which the policy forbids.
   * @param hash screen, such as `#/volumes`
   */
  open(hash: string, options?: BrowserContextOptions): Promise<Page>;
  /** Returns a context of its own, whose pages report their problems. */
  context(options?: BrowserContextOptions): Promise<BrowserContext>;
  /** Returns a new link, as a page requests it. */
  newLink(page: Page): Promise<string>;
  stop(): Promise<void>;
}

/** @param env environment of the program, such as `KUBECONFIG` */
export async function startUiPages(env: Readonly<Record<string, string>>): Promise<UiPages> {
  await needPackages({ chromium: 'chromium' });
  const program = spawn('bin/stowage', ['ui'], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise((resolve) => program.once('exit', resolve));
  let out = '';
  program.stdout.on('data', (data) => {
    out += data;
  });
  const firstUrl = await until('the URL', async () => /^(http:\S+)\n/.exec(out)?.[1]);
  const { stdout: executablePath } = await execa('which', ['chromium']);
  // As root, Chromium has no sandbox. It only gets pages of this test.
  const browser: Browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  const problems: string[] = [];
  let first: Page | undefined;

  const newLink = (page: Page): Promise<string> =>
    page.evaluate(async () => {
      const { sessionStorage } = globalThis as unknown as {
        sessionStorage: { getItem(name: string): string };
      };
      const response = await fetch('/api/token', {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'x-stowage-key': sessionStorage.getItem('stowage-key'),
        },
        body: '{}',
      });
      return ((await response.json()) as { url: string }).url;
    });

  async function contextOf(options: BrowserContextOptions): Promise<BrowserContext> {
    const context = await browser.newContext(options);
    context.on('dialog', (dialog) => {
      problems.push(`dialog ${dialog.message()}`);
      void dialog.dismiss();
    });
    context.on('weberror', (error) => problems.push(error.error().message));
    context.on('console', (message) => {
      // Refusals of the server are answers.
      const isExpected = /status of (400|401|404|409|429|502)|ERR_CONNECTION/.test(message.text());
      if (message.type() === 'error' && !isExpected) problems.push(message.text());
    });
    return context;
  }

  return {
    ...{ problems, firstUrl, newLink },
    sleep() {
      program.kill('SIGSTOP');
      return () => program.kill('SIGCONT');
    },
    context: (options = {}) => contextOf(options),
    async open(hash, options = {}) {
      const page = await (await contextOf({ bypassCSP: true, ...options })).newPage();
      await page.goto(first === undefined ? firstUrl : await newLink(first));
      first ??= page;
      await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
      await show(page, hash);
      return page;
    },
    async stop() {
      await browser.close();
      program.kill('SIGINT');
      expect(await ended).toBe(0);
    },
  };
}

/** Navigates to a screen. */
export const show = (page: Page, hash: string): Promise<void> =>
  page.evaluate((hash) => {
    (globalThis as unknown as { location: { hash: string } }).location.hash = hash;
  }, hash);

/** Returns what axe-core finds. */
export async function violationsOn(page: Page): Promise<string[]> {
  await page.addScriptTag({ path: AXE });
  const { violations } = await page.evaluate(() =>
    (globalThis as unknown as { axe: { run(): Promise<AxeResults> } }).axe.run(),
  );
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
  );
}

/** Returns the pixels by which the page, or its dialog, is wider than the window. */
export const excessWidth = (page: Page): Promise<number> =>
  page.evaluate(() => {
    interface Box {
      scrollWidth: number;
      clientWidth: number;
    }
    const { document } = globalThis as unknown as {
      document: { documentElement: Box; querySelector(selector: string): Box | null };
    };
    return [document.documentElement, document.querySelector('dialog')]
      .map((box) => (box === null ? 0 : box.scrollWidth - box.clientWidth))
      .reduce((most, each) => Math.max(most, each));
  });

export const dialogOf = (page: Page): Locator => page.getByRole('dialog');
