import type { Command } from 'commander';
import type { StorageClass } from '../../api/core.ts';
import { defaultAnnotationsOf } from '../../api/default-class.ts';
import { StowageError } from '../../api/errors.ts';
import { STORAGE_CLASSES } from '../../api/resources.ts';
import { listAll } from '../../kube/client.ts';
import { isNotFound } from '../../kube/errors.ts';
import type { KubeClient } from '../../kube/types.ts';
import { classDirectoryWanted } from '../../model/dynamic-class.ts';
import type { GlobalFlags } from '../lib/globals.ts';
import type { Io } from '../lib/io.ts';
import { asYaml } from '../lib/output/data.ts';
import { foundIn, reading } from '../lib/read-result.ts';
import { complete as completeBy, type Question } from '../lib/wizard/ask.ts';
import { ATTACH_POLICY } from '../lib/wizard/attach-policy.ts';
import { sameCommand } from '../lib/wizard/same-command.ts';
import { confirmSummary, showSummary } from '../lib/wizard/summary.ts';
import type { CreateClassFlags } from './flags.ts';

export type Given = CreateClassFlags & GlobalFlags & { name?: string | undefined };

/** Reports that no flag is about the storage of claims' volumes. */
const isOpen = ({ static: isStatic, type, vg, directory }: Given) =>
  !isStatic && type === undefined && vg === undefined && directory === undefined;

const QUESTIONS: readonly Question<Given>[] = [
  { of: 'name', message: 'Name of the storage class:', needed: true },
  {
    of: 'dynamic',
    message: 'Kind of class:',
    when: ({ static: isStatic }) => !isStatic,
    needed: '--static or --dynamic',
    names: {
      dynamic: 'dynamic: provisions a volume for each claim',
      static: 'static: for Volumes that are created by hand',
    },
    take: (sort) => ({ [sort]: true }),
  },
  {
    of: 'type',
    message: 'Kind of storage:',
    when: isOpen,
    names: { sparse: 'sparse files, attached as loop devices', lvm: 'logical volumes of LVM' },
  },
  {
    of: 'directory',
    message: 'Directory of the files on each node (empty: the default):',
    when: ({ type }, given) => type === 'sparse' && isOpen(given),
    none: true,
    problem: (text) => {
      const wanted = classDirectoryWanted(text);
      return wanted && `It must ${wanted}`;
    },
  },
  {
    of: 'vg',
    message: 'Volume group on each node:',
    when: ({ type, static: isStatic }) => type === 'lvm' && !isStatic,
    needed: '--vg, the volume group on each node',
  },
  {
    of: 'thinPool',
    message: 'Thin pool in that group (empty: none):',
    when: ({ type, static: isStatic }, { vg }) => type === 'lvm' && !isStatic && vg === undefined,
    none: true,
  },
  {
    of: 'reclaimPolicy',
    message: 'What to do with a volume when its claim is deleted:',
    when: ({ dynamic }) => dynamic === true,
    names: { Delete: 'delete it, with all its data', Retain: 'keep it' },
  },
  { ...ATTACH_POLICY, when: ({ dynamic }, given) => dynamic === true && isOpen(given) },
  { of: 'fsType', message: 'File system:' },
  {
    of: 'default',
    message: 'Make it the default for claims that name no class?',
    when: ({ dynamic }) => dynamic === true,
  },
];

/** Prompts for missing values on a terminal, else throws a StowageError `usage` that names them. */
export const complete = (given: Given, command: Command, io: Io) =>
  completeBy<Given, 'name', undefined>(QUESTIONS, given, {
    command,
    io,
    live: () => undefined,
    hint: (lacking) =>
      lacking.includes('--static or --dynamic')
        ? 'Use --static for Volumes that are created by hand, or --dynamic to provision a volume for each claim.'
        : undefined,
  });

/** Requests confirmation. Throws a StowageError `conflict` if refused, or if the class exists. */
export async function agreeToClass(
  wanted: StorageClass,
  flags: CreateClassFlags & GlobalFlags,
  io: Io,
  client: KubeClient,
): Promise<void> {
  const { name } = wanted.metadata;
  const there = await client
    .get<StorageClass>(STORAGE_CLASSES, name, { signal: io.signal })
    .catch((error) => {
      if (!isNotFound(error)) throw error;
    });
  if (there !== undefined) {
    throw new StowageError(
      'conflict',
      `StorageClass ${name} already exists, with provisioner ${there.provisioner}`,
      {
        hint: `Choose another name: most fields of a class are immutable. To show it: kubectl describe storageclass ${name}`,
        object: { kind: STORAGE_CLASSES.kind, name },
      },
    );
  }
  const command = sameCommand(['create', 'storageclass', name], optionsOf(flags), flags);
  const beside = flags.default ? await otherDefaults(client, io) : [];
  const sections = [
    ['Manifest', asYaml(wanted)] as const,
    ...(beside.length === 0 ? [] : [['Other default classes', beside.join('\n')] as const]),
  ];
  showSummary({ sections, command }, io);
  await confirmSummary('Create it?', io);
}

/** Returns other default classes: Kubernetes takes the newest (DefaultStorageClass). */
async function otherDefaults(client: KubeClient, { signal }: Io): Promise<string[]> {
  // Users who may create classes need not be allowed to list them.
  const read = await reading(listAll<StorageClass>(client, STORAGE_CLASSES, { signal }));
  return (foundIn(read)?.items ?? []).flatMap((found) => {
    const { name } = found.metadata;
    const annotations = defaultAnnotationsOf(found).map((each) => `${each}-`);
    const text = `${name}: claims that name no class get the newest default. To remove the default: kubectl annotate storageclass ${name}`;
    return annotations.length === 0 ? [] : [`${text} ${annotations.join(' ')}`];
  });
}

const optionsOf = (flags: CreateClassFlags) => ({
  '--static': flags.static,
  '--dynamic': flags.dynamic,
  '--type': flags.type,
  '--directory': flags.directory,
  '--require-mount': flags.requireMount,
  '--vg': flags.vg,
  '--thin-pool': flags.thinPool,
  '--overwrite-free-extents': flags.overwriteFreeExtents,
  '--reclaim-policy': flags.reclaimPolicy,
  '--on-delete': flags.onDelete,
  '--attach-policy': flags.attachPolicy,
  '--fs-type': flags.fsType,
  '--mkfs-options': flags.mkfsOptions && JSON.stringify(flags.mkfsOptions),
  '--mount-options': flags.mountOptions?.join(','),
  '--default': flags.default,
});
