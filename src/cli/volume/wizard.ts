import type { Command } from 'commander';
import type { StowageError } from '../../api/errors.ts';
import { parseQuantity } from '../../api/quantity.ts';
import type { GlobalFlags } from '../lib/globals.ts';
import type { Io } from '../lib/io.ts';
import { isInteractive } from '../lib/prompts/interactive.ts';
import { foundIn, reading } from '../lib/read-result.ts';
import { type Asking, complete as completeBy, missing, type Question } from '../lib/wizard/ask.ts';
import { ATTACH_POLICY } from '../lib/wizard/attach-policy.ts';
import { type ClusterAccess, deviceChoices, deviceOf, groupOf } from '../lib/wizard/storage.ts';
import { NODE } from './ask-nodes.ts';
import type { CreateVolumeFlags } from './flags.ts';
import { appliesTo, typeOf, type VolumeFlags, type VolumeType } from './manifest.ts';
import { classChoices, classesThere } from './static-classes.ts';

export type Given = CreateVolumeFlags & GlobalFlags & { name?: string | undefined };

export const NAME = { of: 'name', message: 'Name of the Volume:', needed: true } as const;

/** Question for the class, among those for Volumes created by hand. */
export const STORAGE_CLASS = {
  of: 'storageClass',
  message: 'Storage class:',
  needed: true,
  choices: async (_: unknown, { io, connect }: ClusterAccess) =>
    foundIn(await reading(classChoices(await connect(), io.signal))) ?? [],
} as const;

type Answers = VolumeFlags & { name?: string | undefined };
const nodesOf = ({ node }: Answers) => node?.names ?? [];

const QUESTIONS: readonly Question<Answers, ClusterAccess>[] = [
  NAME,
  NODE,
  {
    of: 'type',
    message: 'Kind of storage:',
    needed: '--size or --device or --vg',
    names: {
      sparse: 'a sparse file, attached as a loop device',
      raw: 'a disk or partition of the node',
      lvm: 'a logical volume of LVM',
    } satisfies Record<VolumeType, string>,
  },
  { ...groupOf(nodesOf), when: ({ type }) => appliesTo('vg', type) },
  { ...deviceOf(nodesOf, deviceChoices), when: ({ type }) => appliesTo('device', type) },
  {
    of: 'size',
    message: 'Size, such as 10Gi:',
    when: ({ type }) => appliesTo('size', type),
    needed: true,
    problem: sizeProblem,
  },
  STORAGE_CLASS,
  // Users who give the type get the default.
  { ...ATTACH_POLICY, when: (_, { type }) => type === undefined },
];

/** Returns the missing flags, as written. Throws a StowageError `usage` for contradictory flags. */
export const lacking = (given: Answers): string[] => missing(QUESTIONS, typed(given));

/** Reports whether the user can be prompted for a missing value. Throws as `lacking` does. */
export const asks = (given: Answers, io: Io): boolean =>
  lacking(given).length > 0 && isInteractive(io);

/**
 * Prompts for missing values on a terminal, for which it observes nodes. Elsewhere throws a
 * StowageError `usage` that names them.
 */
export const complete = (given: Given, command: Command, access: ClusterAccess) =>
  completeBy<Given, 'name', ClusterAccess>(QUESTIONS, typed(given), askingOf(command, access));

/** Returns the settings of a command's prompts for storage on nodes. */
export const askingOf = (
  command: Command,
  access: ClusterAccess,
): Omit<Asking<never, ClusterAccess>, 'more'> => ({
  command,
  io: access.io,
  live: () => access,
  hint: (lacking) =>
    lacking.includes('--storage-class') ? classesThere(access.io, access.connect) : undefined,
});

function typed<F extends VolumeFlags>(flags: F): F {
  const type = typeOf(flags);
  return { ...flags, ...(type && { type }) };
}

function sizeProblem(answer: string): string | undefined {
  try {
    return parseQuantity(answer) > 0n ? undefined : 'It must be greater than 0';
  } catch (error) {
    return (error as StowageError).hint;
  }
}
