import { describe, expect, test } from '@jest/globals';
import { GRANT_VIEW } from '../../src/cli/grants/view.ts';
import { checksText } from '../../src/cli/lib/checks/text.ts';
import { columnsOf, headingsOf, type View } from '../../src/cli/lib/output/view.ts';
import { NODE_VIEW } from '../../src/cli/node/get/view.ts';
import { POPULATOR_VIEW } from '../../src/cli/populators/view.ts';
import { SNAPSHOT_VIEW } from '../../src/cli/snapshots/view.ts';
import { STORAGE_CLASS_VIEW } from '../../src/cli/storage-class/view.ts';
import { ATTACHMENT_VIEW } from '../../src/cli/volume/attachments/view.ts';
import { VOLUME_VIEW } from '../../src/cli/volume/view.ts';
import { pagePaths, readBlocks } from '../support/documents/page.ts';

/** Views by the kind in `stowage get KIND`. */
const VIEWS: Record<string, Pick<View<never>, 'columns'>> = {
  volumes: VOLUME_VIEW,
  nodes: NODE_VIEW,
  attachments: ATTACHMENT_VIEW,
  snapshots: SNAPSHOT_VIEW,
  storageclasses: STORAGE_CLASS_VIEW,
  grants: GRANT_VIEW,
  populators: POPULATOR_VIEW,
};

/** Line of headings, as views print them. */
const HEADINGS = /^[A-Z][A-Z-]+(?: {2,}[A-Z][A-Z-]+)+$/;

interface Table {
  command: string | undefined;
  headings: string[];
}

/** Returns the tables of a page. Each follows its command, in its own block or in one above. */
function tablesOf(path: string): Table[] {
  let command: string | undefined;
  return readBlocks(path)
    .filter(({ language }) => language === '' || language === 'text')
    .flatMap(({ body, language }) =>
      body.split('\n').flatMap((line) => {
        if (HEADINGS.test(line)) return [{ command, headings: line.split(/ {2,}/) }];
        if (line.startsWith('$ ')) command = line.slice(2);
        else if (language === '' && line.startsWith('stowage ')) command = line;
        return [];
      }),
    );
}

/** Returns the headings of the table that a command prints. */
function headingsBy(command: string | undefined): string[] {
  if (command?.startsWith('stowage check ')) {
    return checksText([{ node: 'n1', checks: [] }])
      .trim()
      .split(/ {2,}/);
  }
  const [, kind = ''] = /^stowage get (\S+)/.exec(command ?? '') ?? [];
  const view = VIEWS[kind];
  if (view === undefined) throw new Error(`no view of ${command}`);
  const isWide = / -o wide\b/.test(command ?? '');
  return headingsOf(
    columnsOf(view, {
      allNamespaces: / -A\b/.test(command ?? ''),
      ...(isWide && { output: 'wide' }),
    }),
  );
}

const pages = pagePaths().filter((path) => tablesOf(path).length > 0);

test('pages show tables of volumes, of attachments and of checks', () => {
  expect(pages).toEqual(['docs/attachments.md', 'docs/first-volume.md', 'docs/questions.md']);
});

describe.each(pages)('%s', (path) => {
  test('its tables have the columns of the command above them', () => {
    for (const { command, headings } of tablesOf(path))
      expect({ command, headings }).toEqual({ command, headings: headingsBy(command) });
  });
});
