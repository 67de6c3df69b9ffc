import { type Check, like, type OptionTable, settings } from './option-table.ts';

/** A whole number, of blocks or bytes, with the suffixes that mke2fs knows. */
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

/** An external journal (`device=`) is another device, which the class has no business with. */
const JOURNAL: ReadonlyMap<string, RegExp> = new Map([
  ['size', NUMBER],
  ['fast_commit_size', NUMBER],
]);

/** `journal_dev` makes no file system but the journal of one. */
const features: Check = (value) =>
  !/^\^?[a-z0-9_]+(,\^?[a-z0-9_]+)*$/.test(value)
    ? 'must be names of features, each maybe with a ^ before it, and commas between'
    : value.split(',').includes('journal_dev')
      ? 'must not make a journal device'
      : undefined;

const count = like(COUNT, 'a whole number');

/**
 * What a class may set of mkfs.ext4 (mke2fs 1.47), each with a value. Not here, so that a class can neither choose
 * the UUID, nor another device, nor have files of the node read or written: -U, -d, -l, -z, -E offset, the journal's
 * device, -n, -S, -c, -F, and every argument that is no option.
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
    like(/^[A-Za-z0-9_.][-A-Za-z0-9_.]{0,15}$/, 'a label of 16 letters, digits, -, _ or . at most'),
  ],
  ['-m', like(/^[0-9]{1,2}(\.[0-9]{1,4})?$/, 'a percentage')],
  ['-N', count],
  ['-O', features],
  ['-r', like(SWITCH, '0 or 1')],
  ['-t', like(/^ext4$/, 'ext4')],
  ['-T', like(/^[A-Za-z0-9_][-A-Za-z0-9_,]*$/, 'usage types with commas between')],
]);
