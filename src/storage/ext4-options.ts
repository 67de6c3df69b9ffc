import { type Check, like, type OptionTable, settings } from './option-table.ts';

/** Whole number of blocks or bytes, with the suffixes of mke2fs. */
const COUNT = /^[0-9]{1,15}[kKmMgGtT]?$/;
const NUMBER = /^[0-9]{1,15}$/;
const SWITCH = /^[01]$/;

const EXTENDED: ReadonlyMap<string, RegExp | undefined> = new Map([
  ['discard', undefined],
  ['nodiscard', undefined],
  ['lazy_itable_init', SWITCH],
  ['lazy_journal_init', SWITCH],
  ['mmp_update_interval', NUMBER],
  ['num_backup_sb', /^[012]$/],
  ['orphan_file_size', COUNT],
  ['packed_meta_blocks', SWITCH],
  ['quotatype', /^(usr|grp|prj)quota(:(usr|grp|prj)quota)*$/],
  ['resize', COUNT],
  ['root_owner', /^[0-9]{1,10}:[0-9]{1,10}$/],
  ['stride', NUMBER],
  ['stripe_width', NUMBER],
  ['stripe-width', NUMBER],
]);

/**
 * Journal settings without `device=`: an external journal is another device, which a class must not
 * choose.
 */
const JOURNAL: ReadonlyMap<string, RegExp> = new Map([
  ['size', NUMBER],
  ['fast_commit_size', NUMBER],
]);

/** Checks names of features. `journal_dev` makes no file system, only the journal of one. */
const features: Check = (value) =>
  !/^\^?[a-z0-9_]+(,\^?[a-z0-9_]+)*$/.test(value)
    ? 'must be names of features, separated by commas, each with or without a leading ^'
    : value.split(',').includes('journal_dev')
      ? 'must not create a journal device'
      : undefined;

const count = like(COUNT, 'a whole number');

/**
 * Options that a class may set for mkfs.ext4 (mke2fs 1.47), each with a value. Omitted are those
 * that choose the UUID or another device, or read or write files of the node. These are -U, -d, -l,
 * -z, -E offset, the journal's device, -n, -S, -c, -F, and every argument that is no option.
 */
export const EXT4_OPTIONS: OptionTable = new Map([
  ['-b', count],
  ['-C', count],
  ['-e', like(/^(continue|remount-ro|panic)$/, 'continue, remount-ro or panic')],
  ['-E', settings(EXTENDED)],
  ['-g', count],
  ['-G', count],
  ['-i', count],
  ['-I', count],
  ['-J', settings(JOURNAL)],
  [
    '-L',
    like(/^[A-Za-z0-9_.][-A-Za-z0-9_.]{0,15}$/, 'a label of at most 16 letters, digits, -, _ or .'),
  ],
  ['-m', like(/^[0-9]{1,2}(\.[0-9]{1,4})?$/, 'a percentage')],
  ['-N', count],
  ['-O', features],
  ['-r', like(SWITCH, '0 or 1')],
  ['-t', like(/^ext4$/, 'ext4')],
  ['-T', like(/^[A-Za-z0-9_][-A-Za-z0-9_,]*$/, 'usage types, separated by commas')],
]);
