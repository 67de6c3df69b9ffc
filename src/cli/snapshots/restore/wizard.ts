import type { PersistentVolumeClaim, StorageClass } from '../../../api/core.ts';
import { DRIVER } from '../../../api/names.ts';
import { formatBytes, parseQuantity } from '../../../api/quantity.ts';
import { STORAGE_CLASSES } from '../../../api/resources.ts';
import { listAll } from '../../../kube/client.ts';
import type { Connection } from '../../../kube/connect.ts';
import type { KubeClient } from '../../../kube/types.ts';
import type { GlobalFlags } from '../../lib/globals.ts';
import type { Io } from '../../lib/io.ts';
import { asYaml } from '../../lib/output/data.ts';
import { type NamespacedName, namespacedName, namespaceName, objectName } from '../../lib/parse.ts';
import type { Choice } from '../../lib/prompts/prompts.ts';
import { foundIn, reading } from '../../lib/read-result.ts';
import { type Asking, complete as completeBy, type Question } from '../../lib/wizard/ask.ts';
import { namespaceChoices } from '../../lib/wizard/namespaces.ts';
import { sameCommand } from '../../lib/wizard/same-command.ts';
import { SNAPSHOT, snapshotChoices } from '../../lib/wizard/snapshots.ts';
import { confirmSummary, showSummary } from '../../lib/wizard/summary.ts';
import type { Wanted } from './claim.ts';
import type { RestoreFlags } from './flags.ts';
import type { Way } from './make.ts';
import { type Origin, originOf } from './origin.ts';

/** Flags and arguments of the command line. `into` is the namespace of the new claim. */
export type Given = Omit<RestoreFlags, 'to'> &
  GlobalFlags & { name?: NamespacedName | undefined; to?: NamespacedName; into?: string };

const QUESTIONS: readonly Question<Given, Connection>[] = [
  {
    of: 'name',
    needed: true,
    ...SNAPSHOT,
    choices: (_, connection, io) => snapshotChoices({ all: false }, connection, io),
  },
  {
    of: 'into',
    message: 'Namespace of the new claim:',
    when: ({ to }) => to === undefined,
    choices: (_, { client, namespace }, io) => namespaceChoices({ first: namespace }, client, io),
    take: (into) => ({ into: namespaceName(into) }),
  },
  {
    of: 'to',
    message: 'Name of the new claim:',
    needed: true,
    take: (name, { into }) => ({ to: namespacedName(`${into}/${objectName(name)}`) }),
  },
];

/** Returns the questions that follow once the snapshot is known. */
function questionsOf(origin: Origin): Question<Given, Connection>[] {
  const { sizeBytes } = origin;
  const least = sizeBytes === undefined ? undefined : formatBytes(sizeBytes);
  return [
    {
      of: 'size',
      message: least
        ? `Size of the claim (empty: that of the snapshot, ${least}):`
        : 'Size of the claim, such as 10Gi:',
      none: least !== undefined,
      problem: (text) =>
        parseQuantity(text) < (sizeBytes ?? 0n) ? `The snapshot needs ${least}` : undefined,
    },
    {
      of: 'storageClass',
      message: 'Storage class:',
      none: true,
      choices: (_, { client }, io) => classChoices(origin, client, io),
    },
  ];
}

/** Prompts for missing values on a terminal, else throws a StowageError `usage` that names them. */
export const complete = (given: Given, asking: Asking<Given, Connection>) =>
  completeBy<Given, 'name' | 'to', Connection>(QUESTIONS, given, {
    ...asking,
    // On a terminal, a missing snapshot is an error, as without a size.
    more: async ({ name }, { client, namespace }) =>
      questionsOf(await originOf({ namespace, name: '', ...name }, false, asking.io, client)),
  });

/** Returns classes for claims from a snapshot; none if the only one is that of its claim. */
async function classChoices(
  { storageClassName: own = '' }: Origin,
  client: KubeClient,
  { signal }: Io,
): Promise<readonly Choice[]> {
  const read = await reading(listAll<StorageClass>(client, STORAGE_CLASSES, { signal }));
  const names = (foundIn(read)?.items ?? [])
    .filter(({ provisioner }) => provisioner === DRIVER)
    .map(({ metadata }) => metadata.name);
  const others = names.filter((name) => name !== own).map((name) => ({ name, value: name }));
  if (!names.includes(own)) return others;
  const standard = { name: `${own}, the class of the original claim`, value: '' };
  return others.length === 0 ? [] : [standard, ...others];
}

/**
 * Shows the claim as the server would store it, and requests confirmation. Throws a StowageError
 * `conflict` if it is refused.
 */
export async function agreeToClaim(
  { snapshot, claim }: Wanted,
  { tried, link }: Way,
  flags: RestoreFlags & GlobalFlags,
  io: Io,
): Promise<void> {
  const made =
    link === undefined
      ? 'Claim to create'
      : 'Claim to create, with a VolumeSnapshotLink that it names';
  const command = sameCommand(
    ['restore', 'snapshot', `${snapshot.namespace}/${snapshot.name}`],
    {
      '--to': `${claim.namespace}/${claim.name}`,
      '--size': flags.size,
      '--storage-class': flags.storageClass,
      '--access-mode': flags.accessMode?.join(','),
      '--mode': flags.mode,
    },
    flags,
  );
  showSummary({ sections: [[made, asYaml(asked(tried))]], command }, io);
  await confirmSummary('Create it?', io);
}

/** Returns the claim without the fields that the server adds to every object. */
const asked = ({
  apiVersion,
  kind,
  metadata: { namespace, name },
  spec,
}: PersistentVolumeClaim) => ({
  apiVersion,
  kind,
  metadata: { namespace, name },
  spec,
});
