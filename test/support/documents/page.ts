import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Page of the documentation as its readers use it: commands, manifests and files. */
export interface Page {
  path: string;
  /** Unique commands in the order of the page. Lines with a trailing backslash are joined. */
  commands: string[];
  /** YAML blocks with objects of a cluster. */
  manifests: string[];
  /** Other YAML blocks: configuration files, and parts of objects. */
  files: string[];
}

/** Programs that a page may run: NAMED also within its text, TYPED in blocks only. */
const NAMED = [
  ...[
    'stowage',
    'kubectl',
    'npm',
    'node',
    'salt',
    'ssh',
    'ssh-keygen',
    'ssh-keyscan',
    'promtool',
    'visudo',
  ],
  ...[
    'systemctl',
    'journalctl',
    'losetup',
    'partprobe',
    'lvs',
    'vgs',
    'lvcreate',
    'lvextend',
    'sudo',
  ],
];
const TYPED = [
  ...[
    'sh',
    'scp',
    'install',
    'mkdir',
    'cp',
    'mv',
    'rm',
    'cat',
    'mount',
    'umount',
    'findmnt',
    'lsblk',
    'blkid',
  ],
  ...[
    'wipefs',
    'blkdiscard',
    'sgdisk',
    'pvcreate',
    'vgcreate',
    'vgextend',
    'lvremove',
    'apt',
    'apt-get',
    'curl',
    'tar',
    'git',
  ],
  ...[
    'docker',
    'podman',
    'ctr',
    'salt-key',
    'useradd',
    'chmod',
    'chown',
    'chgrp',
    'export',
    'source',
  ],
];
const starts = (programs: readonly string[]) =>
  new RegExp(`^(?:[A-Z_]+=\\S+ )?(?:${programs.join('|')})(?: |$)`);
const SAID = starts(NAMED);
const COMMAND = starts([...NAMED, ...TYPED]);

/**
 * Reports whether a line of a file only resembles a command: in `/etc/stowage/allowed` or sudoers.
 */
const isNone = (line: string): boolean =>
  /^node (?!\S*\/)|^stowage ALL /.test(line) || /^kubectl -o name$/.test(line);

const FENCE = /^( *)```([^\n]*)\n(.*?)^\1```$/gms;

/** Fenced block without the indentation of its fence. */
export interface Block {
  language: string;
  body: string;
  /** Heading above the block; empty if there is none. */
  heading: string;
}

/** Returns the fenced blocks of a page, in order. */
export function readBlocks(path: string): Block[] {
  const text = readFileSync(path, 'utf8');
  const headings = [...text.matchAll(/^#+ (.+)$/gm)];
  return [...text.matchAll(FENCE)].map(({ index, 1: indent, 2: language = '', 3: body = '' }) => ({
    language: language.trim(),
    body: body.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    heading: headings.findLast((each) => each.index < index)?.[1] ?? '',
  }));
}

/**
 * Returns the paths of the README and the pages in docs/. The decisions are excluded: they contain
 * no instructions.
 */
export function pagePaths(): string[] {
  const names = readdirSync('docs', { withFileTypes: true });
  const pages = names.filter((each) => each.isFile() && each.name.endsWith('.md'));
  return ['README.md', ...pages.map(({ name }) => join('docs', name))].sort();
}

/**
 * Reads a page.
 * @throws Error for a block of commands with a line that is no command: it would be skipped
 */
export function readPage(path: string): Page {
  const text = readFileSync(path, 'utf8');
  const blocks = readBlocks(path);
  const yaml = blocks.filter(({ language }) => language === 'yaml').map(({ body }) => body);
  const isManifest = (body: string): boolean => /^apiVersion:/m.test(body);
  const typed = blocks.filter(({ language }) => language === '' || language === 'sh');
  const said = text.replace(FENCE, '').matchAll(/`([a-z][^`]*)`/g);
  const inline = [...said].map(([, code = '']) => code.replaceAll(/\s+/g, ' '));
  return {
    path,
    commands: [
      ...new Set([
        ...typed.flatMap(({ body, language }) => linesTyped(path, body, language === 'sh')),
        // The name of a program alone is no command, as in "the user of `sudo`".
        ...inline.filter((code) => SAID.test(code) && code.includes(' ') && !isNone(code)),
      ]),
    ],
    manifests: yaml.filter(isManifest),
    files: yaml.filter((body) => !isManifest(body)),
  };
}

/**
 * Returns the commands of a block: the lines after `$ ` if there are any, else all lines if any
 * line is a command.
 */
function linesTyped(path: string, body: string, isShell: boolean): string[] {
  const lines = body
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .map((line) => line.replace(/\s+#.*$/, '').trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
  if (lines.some((line) => line.startsWith('$ '))) {
    return lines.filter((line) => line.startsWith('$ ')).map((line) => line.slice(2));
  }
  if (!isShell && !lines.some((line) => COMMAND.test(line) && !isNone(line))) return [];
  const other = lines.find((line) => !isShell && !COMMAND.test(line));
  if (other !== undefined) {
    throw new Error(
      `${path}: "${other}" stands among commands and is none: begin commands with "$ " there`,
    );
  }
  return lines;
}
