import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { execa } from 'execa';
import { readTable } from './disks.ts';

/**
 * Contents of a disk, written by their own tools or as magic numbers. `expected` matches the
 * description of the content.
 */
export const SIGNATURES: readonly {
  name: string;
  expected: RegExp;
  put(device: string): Promise<unknown>;
}[] = [
  {
    name: 'ext4',
    expected: /^ext4:[0-9a-f-]{36}$/,
    put: (device) => execa('mkfs.ext4', ['-q', '-F', device]),
  },
  {
    name: 'xfs',
    expected: /^xfs:[0-9a-f-]{36}$/,
    put: (device) => execa('mkfs.xfs', ['-q', '-f', device]),
  },
  {
    name: 'swap',
    expected: /^swap:[0-9a-f-]{36}$/,
    put: (device) => execa('mkswap', ['--force', device]),
  },
  {
    name: 'a GPT without a partition',
    expected: /^gpt:[0-9a-f-]{36}$/,
    put: (device) => execa('sgdisk', ['--clear', device]),
  },
  {
    name: 'a GPT with a partition that holds ext4',
    expected: /^gpt:[0-9a-f-]{36};1=ext4:[0-9a-f-]{36}$/,
    async put(device) {
      await execa('sgdisk', ['--clear', '--largest-new=1', device]);
      await readTable(device);
      await execa('mkfs.ext4', ['-q', '-F', `${device}p1`]);
    },
  },
  {
    name: 'an MBR with an empty partition',
    expected: /^dos:[0-9a-f]{8};1=none$/,
    async put(device) {
      await magic(device, [
        [440, '12345678'],
        [446, '80010100 83fefff0 00080000 00000100'],
        [510, '55aa'],
      ]);
      await readTable(device);
    },
  },
  {
    name: 'LUKS',
    expected: /^crypto_LUKS:11111111-2222-3333-4444-555555555555$/,
    put: (device) =>
      magic(device, [
        [0, '4c554b53babe0001'],
        [168, Buffer.from('11111111-2222-3333-4444-555555555555').toString('hex')],
      ]),
  },
  {
    name: 'a member of a RAID (metadata 1.2)',
    expected: /^linux_raid_member:/,
    put: (device) =>
      magic(device, [
        [4096, 'fc4e2ba9 01000000 00000000 00000000 11111111222233334444555555555555'],
        [4096 + 144, '0800000000000000'],
      ]),
  },
  {
    name: 'ISO 9660',
    expected: /^iso9660/,
    put: (device) => magic(device, [[32768, `01${Buffer.from('CD001').toString('hex')}01`]]),
  },
  {
    name: 'ext4 and XFS at once, which is ambivalent',
    expected: /^ext4:[0-9a-f-]{36}\+xfs:[0-9a-f-]{36}$/,
    async put(device) {
      await execa('mkfs.xfs', ['-q', '-f', device]);
      const { stdout } = await execa('dd', [`if=${device}`, 'bs=512', 'count=1', 'status=none'], {
        encoding: 'buffer',
      });
      await execa('mkfs.ext4', ['-q', '-F', device]);
      await execa('dd', [`of=${device}`, 'conv=notrunc,fsync', 'status=none'], { input: stdout });
    },
  },
];

/** Writes bytes (hexadecimal) at offsets. */
async function magic(device: string, parts: [offset: number, hex: string][]): Promise<void> {
  for (const [offset, hex] of parts) {
    const input = Buffer.from(hex.replaceAll(' ', ''), 'hex');
    const to = [`of=${device}`, 'bs=1', `seek=${offset}`, 'conv=notrunc,fsync', 'status=none'];
    await execa('dd', to, { input });
  }
}

/**
 * Returns the SHA-256 of a file or device. OpenSSL uses the instructions of the processor:
 * sha256sum may take eight times as long.
 */
export async function sha256(path: string): Promise<string> {
  const sum = createHash('sha256');
  await pipeline(createReadStream(path, { highWaterMark: 1 << 20 }), sum);
  return sum.digest('hex');
}
