import { dirname } from 'node:path';
import type { Probe, ProbeResult } from '../nodes/job.ts';
import { parseLoops } from './loops.ts';
import { donePath, findRecords, intentPath, parseIntent } from './records.ts';
import type { FileFacts, LoopFacts, Observed, Signature } from './types.ts';

/** The persistent name, as the spec has it. */
export const linkOf = (uid: string) => `/dev/disk/by-uuid/${uid}`;
export const partialOf = (file: string) => `${file}.partial`;

const STAT = ['stat', '-c', '%F|%s|%i', '--'];

/** The commands that say all that plans for a sparse file are made from. They read only. */
export function sparseProbes(uid: string, file: string): Probe[] {
  return [
    { name: 'path', argv: ['readlink', '-m', '--', file] },
    { name: 'file', argv: [...STAT, file] },
    { name: 'partial', argv: [...STAT, partialOf(file)] },
    { name: 'signature', argv: ['blkid', '-p', '-o', 'export', file] },
    { name: 'readable', argv: ['dd', `if=${file}`, 'of=/dev/null', 'bs=64K', 'count=1', 'status=none'] },
    { name: 'intent', argv: ['cat', intentPath(uid)] },
    { name: 'done', argv: ['cat', donePath(uid)] },
    { name: 'records', argv: findRecords(uid) },
    {
      name: 'loops',
      argv: ['losetup', '-J', '-l', '-O', 'NAME,BACK-FILE,BACK-INO,MAJ:MIN,AUTOCLEAR,RO,OFFSET,SIZELIMIT'],
    },
    { name: 'devices', argv: ['lsblk', '-J', '-b', '-l', '-o', 'KNAME,SIZE'] },
    { name: 'mounts', argv: ['cat', '/proc/self/mountinfo'] },
    { name: 'link', argv: ['stat', '-L', '-c', '%t:%T', linkOf(uid)] },
    { name: 'udev', argv: ['test', '-S', '/run/udev/control'] },
  ];
}

/** An answer from which nothing safe can be concluded. */
export class ObservationError extends Error {
  override readonly name = 'ObservationError';
}

/** @throws ObservationError for an answer that leaves open what is on the node: a missing tool, an I/O error */
export function readSparse(file: string, results: ReadonlyMap<string, ProbeResult>): Observed {
  const get = (name: string): ProbeResult => {
    const result = results.get(name);
    if (result === undefined) throw new ObservationError(`no answer for ${name}`);
    if (result.exit === 127) throw new ObservationError(`the node lacks a tool: ${result.stderr.trim()}`);
    return result;
  };
  const ok = (name: string): string => {
    const result = get(name);
    if (result.exit !== 0) throw failed(name, result);
    return result.stdout;
  };

  const fileFacts = readFile(file, get('file'));
  const intent = readOptional('intent', get('intent'));
  const parsed = intent === undefined ? undefined : parseIntent(intent);
  if (intent !== undefined && parsed === undefined) {
    throw new ObservationError(`the intent record is damaged: ${JSON.stringify(intent.slice(0, 200))}`);
  }
  const link = readOptional('link', get('link'));
  return {
    realPath: ok('path'),
    file: fileFacts,
    partial: readFile(partialOf(file), get('partial')),
    signature:
      fileFacts.type === 'file' ? readSignature(get('signature'), get('readable')) : { found: 'none' },
    intent: parsed,
    done: readOptional('done', get('done')) !== undefined,
    recordFiles: (readOptional('records', get('records')) ?? '') !== '',
    loops: readLoops(ok('loops'), ok('devices')),
    mounts: readMounts(ok('mounts')),
    link: link === undefined ? undefined : fromHex(link),
    udev: get('udev').exit === 0,
  };
}

function failed(name: string, result: ProbeResult): ObservationError {
  return new ObservationError(`reading ${name} failed with status ${result.exit}: ${result.stderr.trim()}`);
}

/** Only ENOENT says that something is not there; any other error says nothing. */
function readOptional(name: string, result: ProbeResult): string | undefined {
  if (result.exit === 0) return result.stdout;
  // LC_ALL=C is set on the node, so this is the text.
  if (result.stderr.trimEnd().endsWith('No such file or directory')) return undefined;
  throw failed(name, result);
}

function readFile(path: string, result: ProbeResult): FileFacts {
  const stat = readOptional(`${dirname(path)}/…`, result);
  if (stat === undefined) return { type: 'missing' };
  const [, type, size = '', inode = ''] = /^([^|]+)\|(\d+)\|(\d+)$/.exec(stat.trim()) ?? [];
  if (type === undefined) throw new ObservationError(`stat printed what is not understood: ${stat}`);
  return type === 'regular file' || type === 'regular empty file'
    ? { type: 'file', sizeBytes: BigInt(size), inode }
    : { type: 'other' };
}

/**
 * blkid(8): 0 something, 2 nothing, 8 ambivalent: more than one thing is there. It also exits 2, and says nothing,
 * when it may not open the file or cannot read it.
 */
function readSignature(result: ProbeResult, readable: ProbeResult): Signature {
  if (result.exit === 2) {
    if (readable.exit !== 0) throw failed('the file', readable);
    return { found: 'none' };
  }
  if (result.exit === 8) return { found: 'ambivalent' };
  if (result.exit !== 0) throw failed('signature', result);
  const values = new Map(
    result.stdout.split('\n').map((line) => {
      const at = line.indexOf('=');
      return [line.slice(0, at), line.slice(at + 1)];
    }),
  );
  const uuid = values.get('UUID');
  return {
    found: 'one',
    type: values.get('TYPE') ?? values.get('PTTYPE') ?? 'unknown',
    ...(uuid === undefined ? {} : { uuid }),
  };
}

function readLoops(losetup: string, lsblk: string): LoopFacts[] {
  try {
    return parseLoops(losetup, lsblk);
  } catch (cause) {
    throw new ObservationError(`losetup or lsblk printed what is not understood: ${cause}`, { cause });
  }
}

/** proc(5), mountinfo: the third field is major:minor, the fifth the mount point, with octal escapes. */
function readMounts(text: string): Map<string, string[]> {
  const mounts = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    const [, , device, , point] = line.split(' ');
    if (device === undefined || point === undefined) continue;
    mounts.set(device, [...(mounts.get(device) ?? []), point]);
  }
  return mounts;
}

/** stat(1) prints device numbers in hexadecimal. */
function fromHex(device: string): string {
  return device
    .split(':')
    .map((part) => Number.parseInt(part, 16))
    .join(':');
}
