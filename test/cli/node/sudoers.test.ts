import { readFile } from 'node:fs/promises';
import { describe, expect, test } from '@jest/globals';
import { nameProbe, withName } from '../../../src/cli/node/sudoers/name.ts';
import { stowage } from '../../support/fake-io.ts';

const PRINT = ['print', 'sudoers'];
const printed = async (...flags: string[]) => {
  const { code, out, err, connections } = await stowage([...PRINT, ...flags]);
  expect({ code, err, connections }).toEqual({ code: 0, err: '', connections: [] });
  return out;
};
/** Returns the lines without comments. */
const lines = (text: string) =>
  text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
const sample = lines(await readFile('deploy/sudoers', 'utf8'));

describe('print sudoers', () => {
  test('prints only the sample’s lines for sparse files by default, unchanged', async () => {
    const found = lines(await printed());
    expect(found.filter((line) => !sample.includes(line))).toEqual([]);
    const aliases = found.filter((line) => line.startsWith('Cmnd_Alias')).join('\n');
    expect(aliases).toContain('STOWAGE_SPARSE ');
    expect(found.join('\n')).not.toMatch(/STOWAGE_(RAW|LVM|SHARED)/);
  });

  test('prints the whole sample for a node with groups, disks and shared storage', async () => {
    const all = await printed('--vg=vg0', '--disk=sdb', '--shared');
    const DISK = '(sd|hd|vd|xvd|nvme|mmcblk|dasd|pmem|md|dm-|nbd|rbd|drbd|zd|bcache|loop)[a-z0-9]+';
    expect(lines(all)).toEqual(sample.map((line) => line.replaceAll(DISK, 'sdb[0-9]*')));
  });

  test('contains a version name that changes only with the commands', async () => {
    const text = await readFile('deploy/sudoers', 'utf8');
    const name = nameProbe(text);
    expect(nameProbe(await printed('--user=ops', '--directory=/srv'))).toEqual(name);
    expect(nameProbe(withName(text))).toEqual(name);
    expect(nameProbe(withName(`# a word\n${text}`))).toEqual(name);
    expect(nameProbe(withName(text.replace('/usr/bin/cat', '/usr/bin/tac')))).not.toEqual(name);
    expect(() => nameProbe('')).toThrow('has no name');
  });

  test('contains only the user, directories, groups, disks and kubelet of the flags', async () => {
    const text = await printed(
      ...['--user=ops', '--directory=/srv/v.1,/data', '--vg=vg1', '--vg=fast+1', '--disk=sdb,sdc'],
      ...['--shared', '--kubelet-root-dir=/k'],
    );
    const found = lines(text).join('\n');
    expect(found).not.toMatch(/metalk8s|vg0|\/var\/lib\/kubelet|nvme|-o stowage |= stowage$/m);
    expect(found).toContain('User_Alias STOWAGE = ops\n');
    expect(found).toContain('-o ops /run/stowage/jobs$');
    expect(found).toContain('(/srv/v\\.1|/data)/[0-9a-f-]{36}');
    expect(found).toContain('(vg1|fast\\+1)');
    expect(found).toContain('(sdb|sdc)[0-9]*');
    // Each group that the output permits is defined.
    const named = [...found.matchAll(/STOWAGE_\w+/g)].map(([name]) => name);
    const defined = [...found.matchAll(/Cmnd_Alias (STOWAGE_\w+) =/g)].map(([, name]) => name);
    expect(new Set(named)).toEqual(new Set(defined));
  });

  test.each([
    [['--user=Root!'], 'A user name has at most 32'],
    [['--user=a', '--user=b'], 'Give it once'],
    [['--directory=srv'], 'It must be an absolute path'],
    [['--directory=/a b'], 'must be letters, digits or _ . + - only'],
    [['--directory=/srv/../etc'], 'It must be a directory'],
    [['--vg=-a'], 'It must be'],
    [['--disk=/dev/sdb'], 'Write kernel names of disks'],
    [['--disk=sd*'], 'Write kernel names of disks'],
  ])('%j is refused', async (flags, message) => {
    const { code, out, err } = await stowage([...PRINT, ...flags]);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain(message);
  });
});
