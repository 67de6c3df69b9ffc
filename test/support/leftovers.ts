import { lstat, readdir, readFile, readlink, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import type { KubeList, KubeObject, Resource } from '../../src/api/meta.ts';
import { PROTECTION_FINALIZER, VOLUME_GROUP } from '../../src/api/names.ts';
import { PERSISTENT_VOLUMES, VOLUMES } from '../../src/api/resources.ts';

const SPARSE = '/var/lib/metalk8s/storage/sparse';
const RECORDS = '/var/lib/stowage/volumes';
const JOBS = '/run/stowage/jobs';
/** Prefix of persistent links. */
const LINK = '/dev/disk/by-id/stowage-';
/** Directories of links that udev derives from content. */
const CONTENT_LINKS = ['/dev/disk/by-uuid', '/dev/disk/by-partuuid'];

/** Volume that must exist completely, and without other traces. */
export interface Expected {
  uid: string;
  /** Path of the backing file; none for a volume on its own device. */
  file?: string;
  /**
   * Set if the volume must have a loop device and a persistent link; otherwise it must have
   * neither.
   */
  loop: boolean;
  mode?: 'Filesystem' | 'Block';
}

export interface LeftoversOptions {
  expected?: readonly Expected[];
  /** Directories of backing files to check. Default: the default directory of Volumes. */
  directories?: readonly string[];
  /** UIDs of deleted volumes, whose links must be gone. */
  uids?: readonly string[];
  /**
   * Checks the cluster, too: only Volumes with expected UIDs, and their PersistentVolumes, may
   * exist.
   */
  client?: { list(resource: Resource): Promise<KubeList<KubeObject>> };
}

/**
 * Returns a sentence for each unexpected or missing trace of Stowage on this machine and in the
 * cluster. Reads the kernel and the files independently: no code is shared with the product.
 */
export async function leftovers(options: LeftoversOptions = {}): Promise<string[]> {
  const { expected = [], directories = [SPARSE], uids = [], client } = options;
  const found = await Promise.all([
    findLoops(expected, directories),
    findLinks(expected, uids),
    findFiles(expected, directories),
    findRecords(expected),
    findJobs(expected),
    client === undefined ? [] : findObjects(expected, client),
  ]);
  return found.flat();
}

async function findLoops(
  expected: readonly Expected[],
  directories: readonly string[],
): Promise<string[]> {
  const faults: string[] = [];
  const devices = new Map<string, string[]>();
  const fileSystems = new Set(await Promise.all(directories.map(fileSystemOf)));
  for (const { name, backing, fileSystem } of await loops()) {
    const file = backing.replace(/ \(deleted\)$/, '');
    // Another test's node has a directory of the same name, on its own file system.
    if (isUnder(file, directories) && !fileSystems.has(fileSystem)) continue;
    const wanted = expected.some((each) => each.loop && each.file === file);
    if (wanted && backing === file) devices.set(file, [...(devices.get(file) ?? []), name]);
    else if (wanted || isUnder(file, directories) || expected.some((each) => each.file === file)) {
      faults.push(`loop device /dev/${name} is left with ${backing}`);
    }
    if (wanted && (await text(`/sys/block/${name}/loop/autoclear`)) === '1') {
      faults.push(`loop device /dev/${name} of ${file} detaches itself when it is closed`);
    }
  }
  for (const { uid, file, loop, mode } of expected) {
    if (!loop || file === undefined) continue;
    const names = devices.get(file) ?? [];
    if (names.length !== 1)
      faults.push(`${names.length} loop devices have ${file}, not 1: ${names.join(' ')}`);
    const path = `${LINK}${uid}`;
    const link = await readlink(path).catch(() => undefined);
    const device = link?.replace(/^.*\//, '') ?? '';
    if (link === undefined) faults.push(`link ${path} is missing`);
    else if (!(await isOn(mode === 'Block' ? device.replace(/p1$/, '') : device, names))) {
      faults.push(`link ${path} leads to ${link}, not to the device of ${file}`);
    }
  }
  return faults;
}

/**
 * Returns all loop devices of the machine, with the device numbers of their backing files' file
 * systems.
 */
async function loops(): Promise<{ name: string; backing: string; fileSystem: string }[]> {
  const { stdout } = await execa('losetup', [
    '--list',
    '--noheadings',
    '--output',
    'NAME,BACK-MAJ:MIN',
  ]);
  const rows = stdout.split('\n').filter(Boolean);
  const found = await Promise.all(
    rows.map(async (row) => {
      const [path = '', fileSystem = ''] = row.trim().split(/\s+/);
      const name = path.replace('/dev/', '');
      return { name, fileSystem, backing: await text(`/sys/block/${name}/loop/backing_file`) };
    }),
  );
  return found.flatMap(({ backing, ...loop }) =>
    backing === undefined ? [] : [{ ...loop, backing }],
  );
}

/**
 * Returns the device number of the file system of a directory or its nearest existing parent, in
 * the format of losetup.
 */
async function fileSystemOf(directory: string): Promise<string> {
  const facts = await stat(directory).catch(() => undefined);
  if (facts === undefined) return fileSystemOf(dirname(directory));
  // As composed by makedev(3).
  return `${(facts.dev >>> 8) & 0xfff}:${(facts.dev & 0xff) | ((facts.dev >>> 12) & 0xfff00)}`;
}

/**
 * Reports whether a device is one of these, or a loop device stacked on one: both show the same
 * UUID, and udev links the newest.
 */
async function isOn(device: string, names: readonly string[]): Promise<boolean> {
  const below = await text(`/sys/block/${device}/loop/backing_file`);
  return names.includes(device) || names.some((name) => below === `/dev/${name}`);
}

async function findLinks(
  expected: readonly Expected[],
  uids: readonly string[],
): Promise<string[]> {
  const attached = expected
    .filter(({ loop, file }) => loop || file === undefined)
    .map(({ uid }) => uid);
  const gone = [...uids, ...expected.map(({ uid }) => uid)].filter(
    (uid) => !attached.includes(uid),
  );
  const links = await Promise.all(
    [...CONTENT_LINKS, dirname(LINK)].map(async (folder) =>
      (await list(folder)).map((name) => ({ folder, name })),
    ),
  );
  return links
    .flat()
    .filter(({ name }) => gone.includes(name.replace(/^stowage-/, '')))
    .map(({ folder, name }) => `link ${folder}/${name} is left`);
}

async function findFiles(
  expected: readonly Expected[],
  directories: readonly string[],
): Promise<string[]> {
  const faults: string[] = [];
  for (const directory of directories) {
    for (const name of await list(directory)) {
      const file = join(directory, name);
      if (!expected.some((each) => each.file === file)) faults.push(`file ${file} is left`);
    }
  }
  for (const { file } of expected) {
    if (file === undefined) continue;
    const facts = await lstat(file).catch(() => undefined);
    if (!facts?.isFile()) faults.push(`file ${file} is missing`);
    const partial = `${file}.partial`;
    if (
      !directories.some((directory) => isUnder(partial, [directory])) &&
      (await exists(partial))
    ) {
      faults.push(`file ${partial} is left`);
    }
  }
  return faults;
}

async function findRecords(expected: readonly Expected[]): Promise<string[]> {
  const wanted = new Set(expected.flatMap(({ uid }) => [`${uid}.intent`, `${uid}.done`]));
  const names = await list(RECORDS);
  return [
    ...names.filter((name) => !wanted.has(name)).map((name) => `record ${RECORDS}/${name} is left`),
    ...[...wanted]
      .filter((name) => !names.includes(name))
      .map((name) => `record ${RECORDS}/${name} is missing`),
  ];
}

/** Checks jobs. Jobs of an existing volume are no leak, but half a submission is. */
async function findJobs(expected: readonly Expected[]): Promise<string[]> {
  const faults: string[] = [];
  for (const subject of await list(JOBS)) {
    if (!expected.some(({ uid }) => uid === subject))
      faults.push(`jobs ${JOBS}/${subject} are left`);
    for (const job of await list(`${JOBS}/${subject}`)) {
      if (job.startsWith('.new.'))
        faults.push(`half a submission ${JOBS}/${subject}/${job} is left`);
    }
  }
  return faults;
}

async function findObjects(
  expected: readonly Expected[],
  client: NonNullable<LeftoversOptions['client']>,
): Promise<string[]> {
  const faults: string[] = [];
  const uids = new Set(expected.map(({ uid }) => uid));
  const volumes = (await client.list(VOLUMES)).items;
  for (const { metadata } of volumes) {
    if (!uids.has(metadata.uid ?? ''))
      faults.push(`Volume ${metadata.name} is left${finalizersOf(metadata)}`);
  }
  for (const uid of uids) {
    if (!volumes.some(({ metadata }) => metadata.uid === uid))
      faults.push(`Volume with uid ${uid} is missing`);
  }
  for (const { metadata } of (await client.list(PERSISTENT_VOLUMES)).items) {
    const owner = metadata.ownerReferences?.find(
      ({ apiVersion, kind }) => apiVersion.startsWith(`${VOLUME_GROUP}/`) && kind === VOLUMES.kind,
    );
    const ours = owner !== undefined || metadata.finalizers?.includes(PROTECTION_FINALIZER);
    if (ours && !uids.has(owner?.uid ?? '')) {
      faults.push(`PersistentVolume ${metadata.name} is left${finalizersOf(metadata)}`);
    }
  }
  return faults;
}

function finalizersOf({ finalizers = [] }: KubeObject['metadata']): string {
  return finalizers.length === 0 ? '' : `, held by ${finalizers.join(', ')}`;
}

function isUnder(file: string, directories: readonly string[]): boolean {
  return directories.some((directory) => file.startsWith(`${directory}/`));
}

async function exists(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined)) !== undefined;
}

/** Returns an empty list if the path is missing or no directory. */
async function list(folder: string): Promise<string[]> {
  return readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return [];
    throw error;
  });
}

async function text(path: string): Promise<string | undefined> {
  const content = await readFile(path, 'utf8').catch(() => undefined);
  return content?.replace(/\n$/, '');
}
