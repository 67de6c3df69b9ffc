import { DNS_SUBDOMAIN, isDnsSubdomain } from '../../api/dns-name.ts';
import { StowageError } from '../../api/errors.ts';
import { isLvmName, LVM_NAME } from '../../api/lvm-name.ts';
import { parseQuantity } from '../../api/quantity.ts';
import type { KubeClient } from '../../kube/types.ts';
import type { Io } from '../io.ts';
import { nodes } from '../node-pattern.ts';
import { isInteractive, type Prompts } from '../prompts/prompts.ts';
import { missing, typeOf, type VolumeFlags } from './manifest.ts';
import { classChoices, classesThere } from './static-classes.ts';

/** What `create volume` needs: nothing of it is missing. */
export interface Wanted<F extends VolumeFlags> {
  name: string;
  flags: F;
}

/** Asks for what is missing, where somebody can be asked. Throws a StowageError `usage` that names it where not. */
export async function complete<F extends VolumeFlags>(
  name: string | undefined,
  flags: F,
  io: Io,
  connect: () => Promise<KubeClient>,
): Promise<Wanted<F>> {
  const lacking = missing(name, flags);
  if (name !== undefined && lacking.length === 0) return { name, flags };
  if (isInteractive(io)) {
    const prompts = await io.prompts();
    return {
      name: name ?? (await prompts.input('Name of the Volume:', nameProblem)),
      flags: await ask(flags, io, prompts, connect),
    };
  }
  const hint = lacking.includes('--storage-class') ? await classesThere(io, connect) : undefined;
  throw new StowageError('usage', `missing: ${lacking.join(', ')}`, hint === undefined ? {} : { hint });
}

async function ask<F extends VolumeFlags>(
  given: F,
  io: Io,
  prompts: Prompts,
  connect: () => Promise<KubeClient>,
): Promise<F> {
  const flags = { ...given };
  flags.node ??= nodes(await prompts.input('Node that holds the storage:', nameProblem));
  flags.type =
    typeOf(flags) ?? ((await prompts.select('What to make it of:', TYPES)) as VolumeFlags['type'] & string);
  if (flags.type === 'lvm') flags.vg ??= await prompts.input('Volume group on the node:', groupProblem);
  if (flags.type === 'raw')
    flags.device ??= await prompts.input('Path of the device on the node:', pathProblem);
  else flags.size ??= await prompts.input('Size, such as 10Gi:', sizeProblem);
  flags.storageClass ??= await askClass(io, prompts, connect);
  return flags;
}

const TYPES = [
  { name: 'a sparse file, attached as a loop device', value: 'sparse' },
  { name: 'a disk or partition that the node has', value: 'raw' },
  { name: 'a logical volume of LVM', value: 'lvm' },
];

async function askClass(io: Io, prompts: Prompts, connect: () => Promise<KubeClient>): Promise<string> {
  const choices = await classChoices(await connect(), io.signal);
  return choices.length === 0
    ? prompts.input('Storage class:', nameProblem)
    : prompts.select('Storage class:', choices);
}

const nameProblem = (answer: string) => (isDnsSubdomain(answer) ? undefined : `A name has ${DNS_SUBDOMAIN}`);

const pathProblem = (answer: string) =>
  answer.startsWith('/') ? undefined : 'Write an absolute path, such as /dev/disk/by-id/…';

const groupProblem = (answer: string) => (isLvmName(answer) ? undefined : `A volume group has ${LVM_NAME}`);

function sizeProblem(answer: string): string | undefined {
  try {
    return parseQuantity(answer) > 0n ? undefined : 'It must be greater than 0';
  } catch (error) {
    return (error as StowageError).hint;
  }
}
