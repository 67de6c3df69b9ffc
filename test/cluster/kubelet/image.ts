import { createHash } from 'node:crypto';
import { copyFile, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';

/** Image of all containers, also of those that hold a pod together. No registry has it. */
export const IMAGE = 'localhost/busybox:test';

/** Program of Debian's busybox-static, which needs no library. */
const BUSYBOX = '/usr/bin/busybox';

const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64' };

/**
 * Writes an image that contains only busybox to a new directory, in the format of `docker save`.
 * @returns the file
 */
export async function makeImage(folder: string): Promise<string> {
  const root = join(folder, 'root');
  await mkdir(join(root, 'bin'), { recursive: true });
  await copyFile(BUSYBOX, join(root, 'bin/busybox'));
  const { stdout: applets } = await execa(BUSYBOX, ['--list']);
  for (const applet of applets.split('\n')) {
    if (applet !== 'busybox') await symlink('busybox', join(root, 'bin', applet));
  }
  const layer = join(folder, 'layer.tar');
  await execa('tar', ['--create', '--file', layer, '--directory', root, '.']);
  await rm(root, { recursive: true });
  const diffId = createHash('sha256')
    .update(await readFile(layer))
    .digest('hex');
  const config = {
    architecture: ARCHITECTURES[process.arch] ?? process.arch,
    os: 'linux',
    config: { Env: ['PATH=/bin'], Cmd: ['sleep', 'infinity'] },
    rootfs: { type: 'layers', diff_ids: [`sha256:${diffId}`] },
  };
  const manifest = [{ Config: 'config.json', RepoTags: [IMAGE], Layers: ['layer.tar'] }];
  await writeFile(join(folder, 'config.json'), JSON.stringify(config));
  await writeFile(join(folder, 'manifest.json'), JSON.stringify(manifest));
  const image = join(folder, 'image.tar');
  await execa('tar', [
    ...['--create', '--file', image, '--directory', folder],
    ...['manifest.json', 'config.json', 'layer.tar'],
  ]);
  return image;
}
