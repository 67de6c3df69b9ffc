import { readdir, readFile, rm } from 'node:fs/promises';
import { execa } from 'execa';

/**
 * Removes what a failed test may leave of a volume: mounts and loop devices of its file, if any,
 * files, records and its udev rule.
 */
export async function removeTraces(uid: string, file?: string): Promise<void> {
  for (const device of await readdir('/sys/block')) {
    const backing = await readFile(`/sys/block/${device}/loop/backing_file`, 'utf8').catch(
      () => '',
    );
    if (file === undefined || !backing.startsWith(file)) continue;
    await execa('umount', ['-q', '-A', `/dev/${device}`], { reject: false });
    await execa('losetup', ['-d', `/dev/${device}`], { reject: false });
  }
  const records = ['intent', 'intent.new', 'done', 'done.new', 'wiped', 'wiped.new', 'cancel'].map(
    (name) => `/var/lib/stowage/volumes/${uid}.${name}`,
  );
  const files = file === undefined ? [] : [file, `${file}.partial`];
  const rule = `/run/udev/rules.d/61-stowage-${uid}.rules`;
  for (const path of [...files, `/run/stowage/jobs/${uid}`, ...records, rule]) {
    await rm(path, { recursive: true, force: true });
  }
}
