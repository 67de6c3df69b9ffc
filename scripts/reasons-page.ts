import { ATTACHMENTS } from '../src/api/reasons/attachments.ts';
import { BACKUPS } from '../src/api/reasons/backups.ts';
import { CLAIMS } from '../src/api/reasons/claims.ts';
import { COPIES } from '../src/api/reasons/copies.ts';
import { DEVICES } from '../src/api/reasons/devices.ts';
import { DIRECTORIES } from '../src/api/reasons/directories.ts';
import { FILES } from '../src/api/reasons/files.ts';
import { FILLS } from '../src/api/reasons/fills.ts';
import { JOBS } from '../src/api/reasons/jobs.ts';
import { LVM } from '../src/api/reasons/lvm.ts';
import { NODES } from '../src/api/reasons/nodes.ts';
import { OBSERVATIONS } from '../src/api/reasons/observations.ts';
import { POPULATORS } from '../src/api/reasons/populators.ts';
import { PUBLIC_REASONS } from '../src/api/reasons/public.ts';
import { SHARED_FILES } from '../src/api/reasons/shared-files.ts';
import { SNAPSHOTS } from '../src/api/reasons/snapshots.ts';
import type { ReasonEntry } from '../src/api/reasons/types.ts';
import { VOLUMES } from '../src/api/reasons/volumes.ts';

/** Families of reasons, each with the page that documents it. */
const FAMILIES: readonly [title: string, page: string, Readonly<Record<string, ReasonEntry>>][] = [
  ['Nodes', 'troubleshooting.md', NODES],
  ['Observations of nodes', 'troubleshooting.md', OBSERVATIONS],
  ['Jobs', 'design.md', JOBS],
  ['Volumes', 'volumes.md', VOLUMES],
  ['Directories', 'files.md', DIRECTORIES],
  ['Files and loop devices', 'files.md', FILES],
  ['Files that nodes share', 'shared-directories.md', SHARED_FILES],
  ['Disks, partitions and other devices', 'disks.md', DEVICES],
  ['Logical volumes', 'logical-volumes.md', LVM],
  ['Attachments', 'attachments.md', ATTACHMENTS],
  ['Claims', 'claims.md', CLAIMS],
  ['Populators', 'populators.md', POPULATORS],
  ['Archives, images and backups as data sources', 'populators.md', FILLS],
  ['Copies on a node', 'snapshots.md', COPIES],
  ['Snapshots', 'snapshots.md', SNAPSHOTS],
  ['Backups', 'backups.md', BACKUPS],
];

const INTRODUCTION = `# Events, reasons and exit statuses

Events, conditions and errors of Stowage, with their meaning and the action to take. For one object,
\`stowage why\` names the cause and the fix.

Each condition and event has a public reason, and a code with parameters that its message is made
of. The code is in the field \`detail\` of conditions and attachments, in the annotations
\`stowage.dev/reason\` and \`stowage.dev/parameters\` of events, and in \`reason\` of
\`stowage why -o json\`. Match codes in programs: messages may change at any time.
`;

const CODES = `## Codes

Braces contain a parameter. A part in brackets is omitted if its parameter is absent.
`;

const cell = (text: string): string => text.replaceAll('|', '\\|');

const table = (columns: readonly string[], rows: readonly (readonly string[])[]): string =>
  [columns, columns.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.map(cell).join(' | ')} |\n`)
    .join('');

const paragraph = (text: string | undefined): string => (text === undefined ? '' : `${text}\n\n`);

/** Returns docs/reasons.md, from the list of reasons. Keeps the page's exit statuses. */
export function reasonsPage(page: string): string {
  const shown = PUBLIC_REASONS.map(({ title, above, below, columns, rows }) => {
    const lines = rows.map(([reason, ...cells]) => [`\`${reason}\``, ...cells]);
    const after = below === undefined ? '' : `\n${below}\n`;
    return `## ${title}\n\n${paragraph(above)}${table(columns, lines)}${after}`;
  });
  const codes = FAMILIES.map(([title, more, entries]) => {
    const rows = Object.entries(entries).map(([code, { message, action = '–' }]) => [
      `\`${code}\``,
      message,
      action,
    ]);
    return `### ${title}\n\nMore: [${more}](${more}).\n\n${table(['code', 'message', 'action'], rows)}`;
  });
  const kept = page.slice(page.indexOf('## Exit statuses'));
  return [INTRODUCTION, ...shown, CODES, ...codes, kept].join('\n');
}
