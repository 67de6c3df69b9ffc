import { copyFile, mkdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { execa } from 'execa';
import { needPackages } from '../../support/debian-packages.ts';
import { cached, keyOf } from '../cache.ts';
import { buildPrograms } from '../control-plane/programs.ts';
import { IMAGE, makeImage } from '../kubelet/image.ts';
import { SUITE } from './image.ts';
import { debianMirror } from './mirror.ts';

/** Packages of the VMs' suite, regardless of this machine's: the programs need its libraries. */
const PACKAGES = ['containerd', 'runc', 'containernetworking-plugins'];
const FROM_PACKAGES = ['containerd', 'containerd-shim-runc-v2', 'ctr', 'runc'].map(
  (name) => `usr/bin/${name}`,
);

/** Files of the disk in addition to the programs. */
export const NETWORK_PLUGINS = 'network-plugins';
export const IMAGE_FILE = 'image.tar';

/**
 * Returns a raw disk with the programs that make a VM a node of Kubernetes, from the cache or
 * built. Must run as root.
 */
export async function programsDisk(): Promise<string> {
  await needPackages({
    mmdebstrap: 'mmdebstrap',
    'mkfs.ext4': 'e2fsprogs',
    busybox: 'busybox-static',
  });
  const program = await buildPrograms();
  const kubelet = program('kubelet');
  // The name of the kubelet's directory depends on its content.
  const key = keyOf(basename(dirname(kubelet)), SUITE, ...PACKAGES, IMAGE, BUILT_BY);
  const folder = await cached('vm-programs', key, (into) => build(kubelet, into));
  return join(folder, DISK);
}

const DISK = 'disk.img';
/** Version of the code below and of the image's. Increment it when the disk changes. */
const BUILT_BY = '1';

async function build(kubelet: string, folder: string): Promise<void> {
  const unpacked = join(folder, 'unpacked');
  const unpack = ['--quiet', '--variant=extract', `--include=${PACKAGES.join(',')}`];
  await execa('mmdebstrap', [...unpack, SUITE, unpacked, await debianMirror()]);
  const root = join(folder, 'root');
  await mkdir(join(root, NETWORK_PLUGINS), { recursive: true });
  for (const path of FROM_PACKAGES)
    await copyFile(join(unpacked, path), join(root, basename(path)));
  await copyFile(join(unpacked, 'usr/lib/cni/loopback'), join(root, NETWORK_PLUGINS, 'loopback'));
  await copyFile(kubelet, join(root, 'kubelet'));
  const image = join(folder, 'image');
  await mkdir(image);
  await rename(await makeImage(image), join(root, IMAGE_FILE));
  const disk = join(folder, DISK);
  await execa('truncate', ['-s', '512M', disk]);
  await execa('mkfs.ext4', ['-q', '-m', '0', '-d', root, disk]);
  for (const part of [unpacked, root, image]) await rm(part, { recursive: true });
}
