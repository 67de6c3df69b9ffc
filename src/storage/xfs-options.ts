import { type Check, like, type OptionTable, settings } from './option-table.ts';

/** Size in bytes, or with the suffixes of mkfs.xfs: sectors, blocks, KiB and up. */
const SIZE = /^[0-9]{1,15}[sbkmgtKMGT]?$/;
const NUMBER = /^[0-9]{1,15}$/;
const SWITCH = /^[01]$/;

const DATA: ReadonlyMap<string, RegExp> = new Map([
  ['agcount', NUMBER],
  ['agsize', SIZE],
  ['su', SIZE],
  ['sw', NUMBER],
  ['sunit', NUMBER],
  ['swidth', NUMBER],
  ['noalign', SWITCH],
  ['rtinherit', SWITCH],
  ['projinherit', NUMBER],
  ['extszinherit', NUMBER],
  ['cowextsize', NUMBER],
  ['daxinherit', SWITCH],
]);

const INODES: ReadonlyMap<string, RegExp> = new Map([
  ['size', SIZE],
  ['perblock', NUMBER],
  ['maxpct', NUMBER],
  ['align', SWITCH],
  ['attr', NUMBER],
  ['projid32bit', SWITCH],
  ['sparse', SWITCH],
  ['nrext64', SWITCH],
]);

const LOG: ReadonlyMap<string, RegExp> = new Map([
  ['size', SIZE],
  ['version', NUMBER],
  ['sunit', NUMBER],
  ['su', SIZE],
  ['lazy-count', SWITCH],
]);

const METADATA: ReadonlyMap<string, RegExp> = new Map([
  ['bigtime', SWITCH],
  ['crc', SWITCH],
  ['finobt', SWITCH],
  ['inobtcount', SWITCH],
  ['reflink', SWITCH],
  ['rmapbt', SWITCH],
]);

const NAMING: ReadonlyMap<string, RegExp> = new Map([
  ['size', SIZE],
  ['version', /^(2|ci)$/],
  ['ftype', SWITCH],
]);

const SECTORS: ReadonlyMap<string, RegExp> = new Map([['size', SIZE]]);

/**
 * Options that a class may set for mkfs.xfs (xfsprogs 6.1). Omitted are those that choose the UUID
 * or another device, or read or write files of the node. These are uuid, file and name, a log or
 * real-time device, protofiles (-p), configuration files (-c), -r, -f, -N, and every argument that
 * is no option.
 */
export const XFS_OPTIONS: OptionTable = new Map<string, Check | 'flag'>([
  ['-b', settings(SECTORS)],
  ['-d', settings(DATA)],
  ['-i', settings(INODES)],
  ['-K', 'flag'],
  ['-l', settings(LOG)],
  [
    '-L',
    like(/^[A-Za-z0-9_.][-A-Za-z0-9_.]{0,11}$/, 'a label of at most 12 letters, digits, -, _ or .'),
  ],
  ['-m', settings(METADATA)],
  ['-n', settings(NAMING)],
  ['-s', settings(SECTORS)],
]);
