import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { EXT4_OPTIONS } from '../../src/storage/ext4-options.ts';
import { mkfs } from '../../src/storage/mkfs.ts';
import { checkMkfsOptions } from '../../src/storage/mkfs-options.ts';
import { scriptArgv } from '../../src/storage/scripts/scripts.ts';
import { XFS_OPTIONS } from '../../src/storage/xfs-options.ts';
import { LAST, OF_KUBELET } from '../support/link-words.ts';
import { describeAsRoot } from '../support/root.ts';
import {
  FILE,
  GPT,
  MOUNTS,
  RECORDS,
  REFUSED,
  type Row,
  UID,
  udevRule,
  zeros,
} from '../support/sudo-commands.ts';
import { makeSudoUser, type SudoUser } from '../support/sudo-user.ts';

const LINK = `SYMLINK+="disk/by-id/stowage-${UID}"`;

/**
 * Rules of files, disks, disks of earlier kernels, and logical volumes, with the priorities of mode
 * Block and of earlier paths.
 */
const RULES = [
  `ENV{PARTN}=="1",ATTRS{loop/backing_file}=="${FILE}",${LINK}${LAST}`,
  `ENV{DEVTYPE}=="disk",ATTRS{loop/backing_file}=="*/${UID}",SYMLINK+="disk/by-uuid/${UID}",OPTIONS+="link_priority=100"`,
  `ENV{DEVTYPE}=="disk",ATTRS{diskseq}=="12",${LINK}`,
  `ENV{PARTN}=="3",KERNELS=="nvme0n1",ENV{ID_FS_UUID}=="${UID}",${LINK}`,
  `ATTR{dm/uuid}=="LVM-aB3",${LINK}`,
  `ATTR{dm/name}=="vg0-data--1",${LINK}`,
  `ENV{PARTN}=="1",ATTRS{loop/backing_file}=="${FILE}",SYMLINK+="disk/by-partuuid/${UID}"${OF_KUBELET}`,
];

const ALLOWED: Row[] = [
  // Capacity of a class's own directory, or of a parent directory if it does not exist yet.
  [['stat', '-f', '-c', '%a|%S', '--', '/srv']],
  [['cat', `${RECORDS}/${UID}.done`]],
  [['rm', '-f', '--', FILE]],
  [['mkfs.ext4', '-q', '-F', '-E', 'stride=4,nodiscard', '-U', UID, `${FILE}.partial`]],
  [['truncate', '-s', '4096', '--', FILE]],
  [['umount', '--', `${MOUNTS}/${UID}`]],
  [['rmdir', '--', `${MOUNTS}/${UID}`]],
  [scriptArgv('stowage-grow', '/dev/loop7', UID, 'xfs')],
  [scriptArgv('stowage-grow', '/dev/dm-3', UID, 'ext4')],
  [['dd', ...zeros('/dev/dm-3')]],
  [['sgdisk', ...GPT.toSpliced(1, 0, '--largest-new=1'), '/dev/nvme0n1']],
  [['sgdisk', `--partition-guid=12:${UID}`, '/dev/mmcblk0']],
  [['sgdisk', '--partition-guid=12:R', '/dev/mmcblk0']],
  [['wipefs', '--all', '--force', '/dev/nvme0n1p1', '/dev/nvme0n1p2', '/dev/nvme0n1']],
  [['stat', '-L', '-c', '%F|%t:%T', '--', '/dev/disk/by-path/pci-0000:00:1f.2-ata-1']],
  [['stat', '-L', '-c', '%F|%t:%T', '--', '/dev/mapper/vg-lv+x']],
  [['cat', '/sys/class/block/dm-3/dm/uuid']],
  [['stat', '-L', '-c', '%t:%T', `/dev/disk/by-id/stowage-${UID}`]],
  [['stat', '-L', '-c', '%t:%T', '/dev/disk/by-id/dm-uuid-LVM-aB3']],
  [['rm', '-f', '--', `/dev/disk/by-id/stowage-${UID}`]],
  ...RULES.map((rule): Row => [udevRule(`SUBSYSTEM=="block",${rule}\\n`)]),
  [['udevadm', 'settle', '--timeout=10', '--exit-if-exists=/dev/disk/by-id/dm-uuid-LVM-aB3']],
  [
    [
      'udevadm',
      'settle',
      '--timeout=10',
      '--exit-if-exists=/dev/disk/by-path/pci-0000:00:1f.2-ata-1',
    ],
  ],
  [['cmp', '--bytes=1048576', '--', '/dev/sda', '/dev/zero']],
  [['mkfs.ext4', '-q', '-F', '-U', UID, '/dev/vg0/data1']],
  [['flock', '-x', '-w', '60', '/dev/vg0/data1', 'cat']],
];

/** Commands that only the groups for raw devices allow. */
const RAW: Row[] = [
  [['wipefs', '--all', '--force', '/dev/sda']],
  [['mkfs.ext4', '-q', '-F', '-U', UID, '/dev/sda']],
  [['mkfs.xfs', '-q', '-f', '-m', `uuid=${UID}`, '/dev/sda']],
  [['sgdisk', ...GPT.toSpliced(1, 0, '--largest-new=1'), '/dev/sda']],
  [['sgdisk', `--partition-guid=1:${UID}`, '/dev/sda']],
  [['dd', ...zeros('/dev/sda')]],
  [['partx', '--delete', '/dev/sda']],
  [['flock', '-x', '-w', '60', '/dev/sda', 'cat']],
];

/** Values for each option of mkfs, with everything that the rules allow. */
const EXT4_VALUES: Readonly<Record<string, string>> = {
  '-b': '4096',
  '-C': '64k',
  '-e': 'remount-ro',
  '-E': 'discard,nodiscard,lazy_itable_init=0,lazy_journal_init=1,mmp_update_interval=5,num_backup_sb=1,orphan_file_size=4M,packed_meta_blocks=1,quotatype=usrquota:grpquota,resize=9G,root_owner=0:0,stride=4,stripe_width=8,stripe-width=8',
  '-g': '8192',
  '-G': '16',
  '-i': '16384',
  '-I': '256',
  '-J': 'size=4,fast_commit_size=1',
  '-L': 'data-1_a.b',
  '-m': '0.5',
  '-N': '100',
  '-O': '^has_journal,64bit',
  '-r': '1',
  '-t': 'ext4',
  '-T': 'news,largefile4',
};
const XFS_VALUES: Readonly<Record<string, string>> = {
  '-b': 'size=4k',
  '-d': 'agcount=4,agsize=64m,su=64k,sw=2,sunit=8,swidth=16,noalign=1,rtinherit=0,projinherit=3,extszinherit=4,cowextsize=8,daxinherit=1',
  '-i': 'size=512,perblock=8,maxpct=25,align=1,attr=2,projid32bit=1,sparse=1,nrext64=0',
  '-l': 'size=64m,version=2,sunit=8,su=32k,lazy-count=1',
  '-L': 'data-1_a.b',
  '-m': 'bigtime=1,crc=1,finobt=1,inobtcount=1,reflink=0,rmapbt=1',
  '-n': 'size=8k,version=ci,ftype=1',
  '-s': 'size=4096',
};

describeAsRoot('a user with the sample sudoers', () => {
  let user: SudoUser;

  beforeAll(async () => {
    user = await makeSudoUser();
  });
  afterAll(() => user?.remove());

  describe('without further rules', () => {
    beforeAll(() => user.allow([]));

    test.each(REFUSED)('may not run %j', async (argv) => {
      expect(await user.may(argv)).toBe(false);
    });

    test.each(ALLOWED)('may run %j', async (argv) => {
      expect(await user.may(argv)).toBe(true);
    });

    describe.each([
      ['ext4', EXT4_OPTIONS, EXT4_VALUES],
      ['xfs', XFS_OPTIONS, XFS_VALUES],
    ] as const)('may run mkfs.%s', (type, allowed, values) => {
      test.each([...allowed.keys()])(
        'with every value of %s that a storage class may give',
        async (option) => {
          const value = values[option];
          const options = value === undefined ? [option] : [option, value];
          expect(checkMkfsOptions(type, options)).toEqual({ options });
          for (const path of [`${FILE}.partial`, '/dev/sda', '/dev/vg0/data1', '/dev/dm-3']) {
            expect(
              await user.may(mkfs({ type, options: [...options, ...options] }, UID, path)),
            ).toBe(true);
          }
        },
      );
    });
  });

  test.each(RAW)('may run %j only with the groups for raw devices', async (argv) => {
    await user.allow([]);
    expect(await user.may(argv)).toBe(true);
    await user.allow([], 'sparse files alone');
    expect(await user.may(argv)).toBe(false);
  });
});
