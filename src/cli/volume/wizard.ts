import { StowageError } from '../../api/errors.ts';
import { parseQuantity } from '../../api/quantity.ts';
import type { KubeClient } from '../../kube/types.ts';
import type { Io } from '../io.ts';
import type { NodeFlags } from '../nodes/flags.ts';
import { isInteractive } from '../prompts/prompts.ts';
import { askAttachPolicy } from '../wizard/attach-policy.ts';
import { nameProblem } from '../wizard/missing.ts';
import { askNodes } from '../wizard/nodes.ts';
import { type Asking, askDevice, askGroup } from '../wizard/storage.ts';
import { missing, typeOf, type VolumeFlags } from './manifest.ts';
import { foundIn, reading } from './read-result.ts';
import { classChoices, classesThere } from './static-classes.ts';

/** What `create volume` needs: nothing of it is missing. */
export interface Wanted<F extends VolumeFlags> {
  name: string;
  flags: F;
  /** Whether somebody was asked. */
  asked: boolean;
}

/** Whether something is missing, and somebody can be asked for it. Throws a StowageError `usage` for flags that contradict one another. */
export const asks = (name: string | undefined, flags: VolumeFlags, io: Io): boolean =>
  missing(name, flags).length > 0 && isInteractive(io);

/**
 * Asks for what is missing, where somebody can be asked; for that it looks at nodes. Throws a StowageError `usage` that names it
 * where not.
 */
export async function complete<F extends VolumeFlags>(
  name: string | undefined,
  flags: F,
  io: Io,
  connect: () => Promise<KubeClient>,
  nodeFlags: () => Promise<NodeFlags>,
): Promise<Wanted<F>> {
  const lacking = missing(name, flags);
  if (name !== undefined && lacking.length === 0) return { name, flags, asked: false };
  if (asks(name, flags, io)) {
    const prompts = await io.prompts();
    return {
      name: name ?? (await prompts.input('Name of the Volume:', nameProblem)),
      flags: await ask(flags, { io, prompts, connect, nodeFlags }),
      asked: true,
    };
  }
  const hint = lacking.includes('--storage-class') ? await classesThere(io, connect) : undefined;
  throw new StowageError(
    'usage',
    `missing: ${lacking.join(', ')}`,
    hint === undefined ? {} : { hint },
  );
}

async function ask<F extends VolumeFlags>(given: F, asking: Asking): Promise<F> {
  const { prompts, io, connect, nodeFlags } = asking;
  const flags = { ...given };
  flags.node ??= await askNodes(prompts, await nodeFlags(), io, connect);
  const { names } = flags.node;
  const known = typeOf(flags);
  flags.type =
    known ?? ((await prompts.select('What to make it of:', TYPES)) as VolumeFlags['type'] & string);
  if (flags.type === 'lvm') flags.vg ??= await askGroup(names, asking);
  if (flags.type === 'raw') flags.device ??= await askDevice(names, asking);
  else flags.size ??= await prompts.input('Size, such as 10Gi:', sizeProblem);
  flags.storageClass ??= await askClass(asking);
  // One default more is no question for whoever has said what it is to be.
  if (known === undefined) flags.attachPolicy ??= await askAttachPolicy(prompts);
  return flags;
}

const TYPES = [
  { name: 'a sparse file, attached as a loop device', value: 'sparse' },
  { name: 'a disk or partition that the node has', value: 'raw' },
  { name: 'a logical volume of LVM', value: 'lvm' },
];

/** Asks for the class, of those that there are for Volumes made by hand. */
export async function askClass({ io, prompts, connect }: Asking): Promise<string> {
  const choices = foundIn(await reading(classChoices(await connect(), io.signal))) ?? [];
  return choices.length === 0
    ? prompts.input('Storage class:', nameProblem)
    : prompts.select('Storage class:', choices);
}

function sizeProblem(answer: string): string | undefined {
  try {
    return parseQuantity(answer) > 0n ? undefined : 'It must be greater than 0';
  } catch (error) {
    return (error as StowageError).hint;
  }
}
