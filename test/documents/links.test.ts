import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { pagePaths } from '../support/documents/page.ts';

/** Returns GitHub's anchor of a heading. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, '')
    .trim()
    .replaceAll(/\s/g, '-');

const anchorsIn = (path: string): string[] =>
  [...readFileSync(path, 'utf8').matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    anchorOf(heading),
  );

const withoutBlocks = (text: string): string => text.replaceAll(/^ *```.*?^ *```$/gms, '');

const INDEXES = ['docs/trying.md', 'docs/running.md', 'docs/building.md'];

const OTHERS = ['CONTRIBUTING.md', 'SECURITY.md', 'src/storage/scripts/freeze.md'];

describe.each([...pagePaths(), ...OTHERS])('%s', (path) => {
  const text = withoutBlocks(readFileSync(path, 'utf8'));

  test('every link leads somewhere', () => {
    const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
    const broken = links.filter((link) => {
      if (/^https?:/.test(link)) return false;
      const [file = '', anchor] = link.split('#');
      const target = file === '' ? path : join(dirname(path), file);
      if (!existsSync(target)) return true;
      return anchor !== undefined && target.endsWith('.md') && !anchorsIn(target).includes(anchor);
    });
    expect(broken).toEqual([]);
  });

  test('every path of the repository that it names is there', () => {
    const named = [...text.matchAll(/`((?:src|test|docs|deploy|scripts|salt|bin)\/[\w./-]+)`/g)];
    // The last pattern is the prefix of tags of Salt events.
    const paths = named
      .map(([, name = '']) => name)
      .filter((name) => !/[A-Z]{3}|^salt\/netapi\/hook/.test(name));
    expect(paths.filter((name) => !existsSync(name))).toEqual([]);
  });
});

test('the index leads to three index pages, and these to every other page', () => {
  const linked = (from: string[]) => {
    const text = from.map((path) => readFileSync(path, 'utf8')).join('');
    return (path: string) => text.includes(`](${path.replace('docs/', '')})`);
  };
  expect(INDEXES.filter(linked(['docs/README.md']))).toEqual(INDEXES);
  const others = pagePaths().filter((path) => !/README\.md$/.test(path) && !INDEXES.includes(path));
  expect(others.filter((path) => !linked(INDEXES)(path))).toEqual([]);
});

test('each row of the three index pages says what its page is', () => {
  const kinds = /\| (?:a tutorial|a how-to|a reference|an explanation) \|$/;
  const rows = INDEXES.flatMap((path) =>
    readFileSync(path, 'utf8')
      .split('\n')
      .filter((line) => /^\| .*\]\(/.test(line)),
  );
  expect(rows.filter((row) => !kinds.test(row))).toEqual([]);
});

test('each promise of the threat model names test files that are there', () => {
  const text = readFileSync('docs/threat-model.md', 'utf8');
  const [, section = ''] = /\n## Promises\n([\s\S]*?)\n## /.exec(text) ?? [];
  const rows = [...section.matchAll(/^\| (?!against|---)(.*) \|$/gm)].map(([, row = '']) => row);
  expect(rows.length).toBeGreaterThan(15);
  const without = rows.filter((row) => {
    const files = [
      ...(row.split(' | ')[2] ?? '').matchAll(/\]\(\.\.\/(test\/[\w./-]+\.test\.ts)\)/g),
    ];
    return files.length === 0 || files.some(([, file = '']) => !existsSync(file));
  });
  expect(without).toEqual([]);
});

test('each number of a decision has its page, or was withdrawn', () => {
  const index = readFileSync('docs/decisions/README.md', 'utf8');
  const listed = [...index.matchAll(/^- (?:\[(\d{4})\]\(\1-|(\d{4}) withdrawn$)/gm)].map(
    ([, page, withdrawn]) => page ?? withdrawn,
  );
  expect(listed).toEqual(listed.map((_, at) => String(at + 1).padStart(4, '0')));
  const pages = readdirSync('docs/decisions').filter((name) => name !== 'README.md');
  expect(pages.filter((name) => !index.includes(`](${name})`))).toEqual([]);
});
