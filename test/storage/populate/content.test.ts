import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { execa } from 'execa';
import { SCRIPT_FILES } from '../../support/other-script.ts';
import { tarOf } from '../../support/tar.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
beforeAll(async () => {
  folder = await temporaryDirectory('content');
});
afterAll(() => folder.remove());

/** Runs a function of the script on a file with these bytes. @returns the variables that it set */
async function look(call: string, bytes: Buffer, env: Record<string, string> = {}) {
  const file = join(folder.path, 'source');
  await writeFile(file, bytes);
  const script = `. ./content.sh; ${call} "$1"; printf '%s\\n%s\\n%s' "$kind" "$unpack" "$refusal"`;
  const { stdout, stderr } = await execa('/bin/sh', ['-c', script, 'sh', file], {
    env,
    cwd: SCRIPT_FILES,
  });
  const [kind = '', unpack = '', ...refusal] = stdout.split('\n');
  return { kind, unpack, refusal: refusal.join('\n'), stderr };
}

const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex');
/** Returns the first bytes followed by binary data, as in a disk or an archive. */
const then = (bytes: Buffer | string, length = 4096) => {
  const first = typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes;
  return Buffer.concat([first, Buffer.alloc(length, '\x01\x02\x00\xff', 'latin1')]);
};
const at = (offset: number, bytes: Buffer | string) =>
  then(Buffer.concat([Buffer.alloc(offset), Buffer.from(bytes)]));
const GZIP = gzipSync('a');
const XZ = then(hex('fd377a585a00 0004'));
const QCOW2 = then('QFI\xfb\0\0\0\x03');
const HTML = Buffer.from('<!DOCTYPE html>\n<html lang="en"><title>Log in</title></html>\n');
const TAR = tarOf([{ name: 'disk.raw', data: 'x' }]);

test.each<[kind: string, Buffer]>([
  ['gzip', GZIP],
  ['zstd', zstdCompressSync('a')],
  ['xz', XZ],
  ['bzip2', then('BZh91AY&SY')],
  ['bzip2', hex('425a6839 177245385090 00000000')],
  ['zip', then('PK\x03\x04\x14\0')],
  ['zip', then('PK\x05\x06\0\0')],
  ['7z', then(hex('377abcaf271c'))],
  ['rar', then('Rar!\x1a\x07\x01')],
  ['lz4', then(hex('04224d18'))],
  ['lzip', then('LZIP\x01')],
  ['lzop', then('\x89LZO\0\r\n\x1a\n')],
  ['tar', TAR],
  ['qcow2', QCOW2],
  ['vmdk', then('KDMV\x01\0\0\0')],
  ['vmdk', Buffer.from('# Disk DescriptorFile\nversion=1\n')],
  ['vhd', then('conectix')],
  ['vhdx', then('vhdxfile')],
  ['vdi', at(64, hex('7f10dabe'))],
  ['html', HTML],
  ['html', Buffer.from(`\ufeff\r\n  <HTML>${'x'.repeat(9000)}`)],
  ['xml', Buffer.from('<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>')],
  ['json', Buffer.from('{\n  "errors": [ { "status": 404 } ]\n}')],
  ['git-lfs', Buffer.from('version https://git-lfs.github.com/spec/v1\noid sha256:00\n')],
  // Disks, and data that a disk may begin with.
  ['', Buffer.alloc(0)],
  ['', Buffer.alloc(4096)],
  ['', then('hello')],
  ['', Buffer.from('some text that a program keeps on its device\n')],
  ['', at(510, hex('55aa'))],
  ['', then(hex('eb639010'))],
  ['', at(1080, hex('53ef'))],
  ['', then('XFSB\0\0\x10\0')],
  ['', then('LUKS\xba\xbe\0\x02')],
  ['', then('\x7fELF')],
  ['', then('hsqs')],
  ['', at(32769, 'CD001')],
  ['', then(hex('1f8b00'))],
  ['', then('BZh9')],
  ['', then('PK\x03\x04\xff')],
  ['', then('{"binary"')],
  ['', then('<html>')],
  ['', at(258, 'ustar')],
  ['', at(256, 'ustar')],
])('kind_of detects %j by its first bytes', async (kind, bytes) => {
  expect(await look('kind_of', bytes)).toMatchObject({ kind, stderr: '' });
});

const REFUSED = '';
test.each<[call: string, what: string, Buffer, unpack: string, refusal: string]>([
  ['choose raw auto', 'gzip', GZIP, 'gzip', REFUSED],
  ['choose raw auto', 'xz', XZ, 'xz', REFUSED],
  ['choose raw xz', 'xz', XZ, 'xz', REFUSED],
  ['choose raw auto', 'a disk', Buffer.alloc(4096), '', REFUSED],
  // The decompressor decides: pzstd begins with a frame of its own, and old gzip files have another
  // magic number.
  ['choose raw gzip', 'a disk', Buffer.alloc(4096), 'gzip', REFUSED],
  [
    'choose raw gzip',
    'xz',
    XZ,
    '',
    'begins like data compressed with xz, and by its name or spec.compression should be compressed with gzip',
  ],
  [
    'choose raw gzip',
    'a tar',
    TAR,
    '',
    'begins like a tar archive, and by its name or spec.compression should be compressed with gzip',
  ],
  [
    'choose raw auto',
    'a tar',
    TAR,
    '',
    'the source begins like a tar archive, and should be a disk of format raw: create an Archive',
  ],
  [
    'choose raw auto',
    'a zip',
    then('PK\x03\x04\x14\0'),
    '',
    'begins like a zip archive, and should be a disk of format raw: unpack it',
  ],
  [
    'choose raw auto',
    'a page',
    HTML,
    '',
    'begins like an HTML page, and should be a disk of format raw: the server may have sent an error',
  ],
  ['choose raw gzip', 'a page', HTML, '', 'begins like an HTML page'],
  ['choose raw auto', 'a qcow2', QCOW2, '', 'create the Image with spec.format qcow2'],
  [
    'choose raw auto',
    'a vhdx',
    then('vhdxfile'),
    '',
    'begins like a disk of format vhdx, and should be a disk of format raw: convert it',
  ],
  // The user declared that the data is not compressed.
  ['choose raw none', 'gzip', GZIP, '', REFUSED],
  ['choose raw none', 'a tar', TAR, '', REFUSED],
  ['choose raw none', 'a zip', then('PK\x03\x04\x14\0'), '', REFUSED],
  ['choose raw none', 'a page', HTML, '', 'begins like an HTML page'],
  ['choose raw none', 'a qcow2', QCOW2, '', 'create the Image with spec.format qcow2'],
  ['choose raw none', 'a vmdk', then('KDMV\x01'), '', 'begins like a disk of format vmdk'],
  ['choose qcow2 auto', 'a qcow2', QCOW2, '', REFUSED],
  ['choose qcow2 none', 'a qcow2', QCOW2, '', REFUSED],
  ['choose qcow2 auto', 'gzip', GZIP, 'gzip', REFUSED],
  [
    'choose qcow2 none',
    'gzip',
    GZIP,
    '',
    'begins like data compressed with gzip, and should be a disk of format qcow2: unpack it',
  ],
  [
    'choose qcow2 auto',
    'a vmdk',
    then('KDMV\x01'),
    '',
    'should be a disk of format qcow2: convert it',
  ],
  ['choose tar auto', 'a tar', TAR, '', REFUSED],
  ['choose tar none', 'a tar', TAR, '', REFUSED],
  ['choose tar auto', 'xz', XZ, 'xz', REFUSED],
  [
    'choose tar none',
    'xz',
    XZ,
    '',
    'begins like data compressed with xz, and should be a tar archive: unpack it',
  ],
  [
    'choose tar auto',
    'a zip',
    then('PK\x03\x04\x14\0'),
    '',
    'begins like a zip archive, and should be a tar archive',
  ],
  ['choose tar auto', 'a page', HTML, '', 'begins like an HTML page, and should be a tar archive'],
  [
    'choose tar auto',
    'a qcow2',
    QCOW2,
    '',
    'begins like a disk of format qcow2, and should be a tar archive',
  ],
  // An archive of Unix V7 has no magic bytes.
  ['choose tar auto', 'a possible tar', then('name'), '', REFUSED],
  ['choose exact zstd', 'zstd', zstdCompressSync('a'), 'zstd', REFUSED],
  [
    'choose exact zstd',
    'a page',
    HTML,
    '',
    'begins like an HTML page, and should be the content of a device',
  ],
])('%s accepts or refuses %s', async (call, _what, bytes, unpack, refusal) => {
  const found = await look(call, bytes);
  expect(found.stderr).toBe('');
  if (refusal === REFUSED) expect(found).toMatchObject({ unpack, refusal: '' });
  else expect(found.refusal).toContain(refusal);
});

test.each<[format: string, what: string, Buffer, refusal: string]>([
  ['raw', 'a disk', Buffer.alloc(4096), ''],
  [
    'raw',
    'a tar',
    TAR,
    'the unpacked content begins like a tar archive, and should be a disk of format raw: create an Archive',
  ],
  ['raw', 'gzip', GZIP, 'the unpacked content begins like data compressed with gzip'],
  ['raw', 'a page', HTML, 'begins like an HTML page'],
  ['raw', 'a qcow2', QCOW2, 'create the Image with spec.format qcow2'],
  ['qcow2', 'a qcow2', QCOW2, ''],
  ['qcow2', 'a tar', TAR, 'begins like a tar archive, and should be a disk of format qcow2'],
  // Any content of a volume can be restored.
  ['exact', 'a tar', TAR, ''],
  ['exact', 'a page', HTML, ''],
])('check_plain %s accepts or refuses %s', async (format, _what, bytes, refusal) => {
  const found = await look(`check_plain ${format}`, bytes);
  if (refusal === '') expect(found.refusal).toBe('');
  else expect(found.refusal).toContain(refusal);
});

test.each(['xz', 'setpriv'])('the script names the missing program %s', async (program) => {
  const bin = join(folder.path, `without-${program}`);
  await mkdir(bin);
  for (const name of ['od', 'tr', 'cut', 'head', 'wc', 'xz', 'setpriv']) {
    if (name === program) continue;
    await writeFile(join(bin, name), `#!/bin/sh\nexec /usr/bin/${name} "$@"\n`);
    await chmod(join(bin, name), 0o755);
  }
  expect((await look('choose raw auto', XZ, { PATH: bin })).refusal).toBe(
    `stowage-missing ${program}\nthis node has no program ${program}, which a source compressed with xz needs`,
  );
});
