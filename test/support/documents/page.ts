import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A page as its readers use it: what they type, and what they apply or save. */
export interface Page {
  path: string;
  /** In their order, each once; a line that goes on after a backslash is one. */
  commands: string[];
  /** Blocks of YAML with objects of a cluster. */
  manifests: string[];
  /** Other blocks of YAML: files of configuration, parts of objects. */
  files: string[];
}

/** Programs that a page may have its readers run: named within its text, too, or in blocks alone. */
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

/** Lines of files that begin like commands: of `/etc/stowage/allowed`, and of sudoers. */
const isNone = (line: string): boolean =>
  /^node (?!\S*\/)|^stowage ALL /.test(line) || /^kubectl -o name$/.test(line);

const FENCE = /^( *)```([^\n]*)\n(.*?)^\1```$/gms;

/** A fenced block, without the indentation that its fence has. */
export interface Block {
  language: string;
  body: string;
  /** The heading that it is under; empty where there is none. */
  heading: string;
}

/** Returns the fenced blocks of a page, in their order. */
export function readBlocks(path: string): Block[] {
  const text = readFileSync(path, 'utf8');
  const headings = [...text.matchAll(/^#+ (.+)$/gm)];
  return [...text.matchAll(FENCE)].map(({ index, 1: indent, 2: language = '', 3: body = '' }) => ({
    language: language.trim(),
    body: body.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    heading: headings.findLast((each) => each.index < index)?.[1] ?? '',
  }));
}

/** The README, and all of docs/ but the decisions, which tell what was thought and tell nobody to do anything. */
export function pagePaths(): string[] {
  const names = readdirSync('docs', { withFileTypes: true });
  const pages = names.filter((each) => each.isFile() && each.name.endsWith('.md'));
  return ['README.md', ...pages.map(({ name }) => join('docs', name))].sort();
}

/** Throws an Error for a block with commands in which a line is none: it would be left out. */
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
        // A program's name alone is no command, as in "the user of `sudo`".
        ...inline.filter((code) => SAID.test(code) && code.includes(' ') && !isNone(code)),
      ]),
    ],
    manifests: yaml.filter(isManifest),
    files: yaml.filter((body) => !isManifest(body)),
  };
}

/** What is typed in a block: after `$ `, where there is one, and else all of it, if any line is a command. */
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
