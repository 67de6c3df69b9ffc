import { globSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { execa } from 'execa';
import { type Browser, chromium, type Page } from 'playwright-core';
import { needPackages } from '../support/debian-packages.ts';
import { readBlocks } from '../support/documents/page.ts';
import { describeAsRoot } from '../support/root.ts';

/** All Mermaid blocks of the repository, to be rendered by Mermaid in Debian's Chromium. */

const DIAGRAMS = globSync(['*.md', 'docs/**/*.md', 'src/**/*.md'])
  .sort()
  .flatMap((path) => readBlocks(path).map((block) => ({ path, ...block })))
  .filter(({ language }) => language === 'mermaid');

const MERMAID = join(
  import.meta.dirname,
  '../../node_modules/@mermaid-js/tiny/dist/mermaid.tiny.js',
);

interface WithMermaid {
  mermaid: { render(id: string, text: string): Promise<{ svg: string }> };
}

describeAsRoot('Mermaid diagrams', () => {
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    await needPackages({ chromium: 'chromium' });
    const { stdout: executablePath } = await execa('which', ['chromium']);
    // As root, Chromium has no sandbox. It only gets files of this repository.
    browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
    page = await browser.newPage();
    await page.addScriptTag({ path: MERMAID });
  });
  afterAll(() => browser?.close());

  /** Returns the rendered SVG. Rejects with Mermaid's error. */
  const draw = (text: string): Promise<string> =>
    page.evaluate(async (text) => {
      const { mermaid } = globalThis as unknown as WithMermaid;
      return (await mermaid.render('drawn', text)).svg;
    }, text);

  test('exist in docs/design.md and src/storage/scripts/freeze.md', () => {
    expect(DIAGRAMS.map(({ path }) => path)).toEqual(
      expect.arrayContaining(['docs/design.md', 'src/storage/scripts/freeze.md']),
    );
  });

  test.each(DIAGRAMS)('are rendered: $path under "$heading"', async ({ body }) => {
    const svg = await draw(body);
    const [, width = 0, height = 0] = /viewBox="\S+ \S+ (\S+) (\S+)"/.exec(svg) ?? [];
    expect(Math.min(Number(width), Number(height))).toBeGreaterThan(100);
  });

  test.each(DIAGRAMS)('fail with a dangling arrow: $path under "$heading"', async ({ body }) => {
    await expect(draw(`${body}\n  x -->`)).rejects.toThrow(/Parse error on line \d+/);
  });
});
