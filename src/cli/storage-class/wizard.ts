import type { StorageClass } from '../../api/core.ts';
import { defaultAnnotationsOf } from '../../api/default-class.ts';
import { StowageError } from '../../api/errors.ts';
import { isLvmName, LVM_NAME } from '../../api/lvm-name.ts';
import { STORAGE_CLASSES } from '../../api/resources.ts';
import { listAll } from '../../kube/client.ts';
import { isNotFound } from '../../kube/errors.ts';
import type { KubeClient } from '../../kube/types.ts';
import { classDirectoryWanted } from '../../model/dynamic-class.ts';
import type { GlobalFlags } from '../globals.ts';
import type { Io } from '../io.ts';
import { asYaml } from '../output/data.ts';
import type { Prompts } from '../prompts/prompts.ts';
import { foundIn, reading } from '../volume/read-result.ts';
import { askAttachPolicy } from '../wizard/attach-policy.ts';
import { nameProblem, orNone, toAsk } from '../wizard/missing.ts';
import { agree, summarise } from '../wizard/review-plan.ts';
import { sameCommand } from '../wizard/same-command.ts';
import type { CreateClassFlags } from './create.ts';

/** Asks for what is missing, where somebody can be asked. Throws a StowageError `usage` that names it where not. */
export async function complete<F extends CreateClassFlags>(
  name: string | undefined,
  flags: F,
  io: Io,
): Promise<{ name: string; flags: F; asked: boolean }> {
  const lacking = [
    ...(name === undefined ? ['NAME'] : []),
    ...(flags.static || flags.dynamic ? [] : ['--static or --dynamic']),
    ...(flags.type === 'lvm' && flags.vg === undefined
      ? ['--vg, the volume group of each node']
      : []),
  ];
  const hint = lacking.includes('--static or --dynamic')
    ? 'Volumes of a static class are made by hand; claims of a dynamic one make their own.'
    : undefined;
  if (!toAsk(lacking, io, hint) && name !== undefined) return { name, flags, asked: false };
  const prompts = await io.prompts();
  return {
    name: name ?? (await prompts.input('Name of the storage class:', nameProblem)),
    flags: await ask(flags, prompts),
    asked: true,
  };
}

async function ask<F extends CreateClassFlags>(given: F, prompts: Prompts): Promise<F> {
  const flags = { ...given };
  if (!flags.static && !flags.dynamic) {
    const sort = await prompts.select('What has it:', [
      { name: 'claims, which make volumes of their own', value: 'dynamic' },
      { name: 'Volumes that are made by hand', value: 'static' },
    ]);
    flags[sort === 'static' ? 'static' : 'dynamic'] = true;
  }
  if (flags.dynamic) await askDynamic(flags, prompts);
  flags.fsType ??= (await prompts.select('File system:', ['ext4', 'xfs'].map(itself))) as
    | 'ext4'
    | 'xfs';
  if (flags.dynamic && flags.default === undefined) {
    flags.default = await prompts.confirm('Do claims that name no class get this one?');
  }
  return flags;
}

async function askDynamic(flags: CreateClassFlags, prompts: Prompts): Promise<void> {
  const isOpen =
    flags.type === undefined && flags.vg === undefined && flags.directory === undefined;
  if (isOpen) {
    flags.type = (await prompts.select('What its volumes are made of:', [
      { name: 'sparse files, attached as loop devices', value: 'sparse' },
      { name: 'logical volumes of LVM', value: 'lvm' },
    ])) as 'sparse' | 'lvm';
    if (flags.type === 'sparse') {
      const directory = await prompts.input(
        'Folder of the files on the nodes (empty: as for Volumes that say none):',
        orNone(pathProblem),
      );
      if (directory !== '') flags.directory = directory;
    }
  }
  if (flags.type === 'lvm' && flags.vg === undefined) {
    flags.vg = await prompts.input('Volume group of the nodes:', lvmProblem);
    const pool = await prompts.input('Thin pool of that group (empty: none):', orNone(lvmProblem));
    if (pool !== '') flags.thinPool ??= pool;
  }
  flags.reclaimPolicy ??= (await prompts.select(
    'What becomes of a volume whose claim is deleted:',
    [
      { name: 'it is deleted, with all its data', value: 'Delete' },
      { name: 'it stays', value: 'Retain' },
    ],
  )) as 'Delete' | 'Retain';
  if (isOpen) flags.attachPolicy ??= await askAttachPolicy(prompts);
}

const itself = (value: string) => ({ name: value, value });

function pathProblem(answer: string): string | undefined {
  const wanted = classDirectoryWanted(answer);
  return wanted && `It must ${wanted}`;
}

const lvmProblem = (answer: string) => (isLvmName(answer) ? undefined : `It must be ${LVM_NAME}`);

/** Shows what is about to be created, and goes on only with a yes. Throws a StowageError `conflict` otherwise, or where it is there. */
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
      `StorageClass ${name} is there already, of ${there.provisioner}`,
      {
        hint: 'Give another name. What a class says cannot be changed: see it with kubectl describe storageclass.',
        object: { kind: STORAGE_CLASSES.kind, name },
      },
    );
  }
  const command = sameCommand(['create', 'storageclass', name], optionsOf(flags), flags);
  const beside = flags.default ? await otherDefaults(client, io) : [];
  const sections = [
    ['What is made', asYaml(wanted)] as const,
    ...(beside.length === 0 ? [] : [['What is the default, too', beside.join('\n')] as const]),
  ];
  summarise({ sections, command }, io);
  await agree('Create it?', io);
}

/** Kubernetes takes the newest of several (DefaultStorageClass), and few people know. */
async function otherDefaults(client: KubeClient, { signal }: Io): Promise<string[]> {
  // Who may make one may be kept from listing them.
  const read = await reading(listAll<StorageClass>(client, STORAGE_CLASSES, { signal }));
  return (foundIn(read)?.items ?? []).flatMap((found) => {
    const { name } = found.metadata;
    const annotations = defaultAnnotationsOf(found).map((each) => `${each}-`);
    const text = `${name}: claims that name no class get the newest default. To leave one alone: kubectl annotate storageclass ${name}`;
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
