import type { PersistentVolumeClaim, StorageClass } from '../../../api/core.ts';
import { DRIVER } from '../../../api/names.ts';
import { formatBytes, parseQuantity } from '../../../api/quantity.ts';
import { STORAGE_CLASSES } from '../../../api/resources.ts';
import { listAll } from '../../../kube/client.ts';
import type { Connection } from '../../../kube/connect.ts';
import type { GlobalFlags } from '../../globals.ts';
import type { Io } from '../../io.ts';
import { asYaml } from '../../output/data.ts';
import { type NamespacedName, quantity } from '../../parse.ts';
import type { Prompts } from '../../prompts/prompts.ts';
import { foundIn, reading } from '../../volume/read-result.ts';
import { lackingOf, nameProblem, problemBy, toAsk } from '../../wizard/missing.ts';
import { askNamespace } from '../../wizard/namespaces.ts';
import { agree, summarise } from '../../wizard/review-plan.ts';
import { sameCommand } from '../../wizard/same-command.ts';
import { askSnapshot } from '../../wizard/snapshots.ts';
import type { Wanted } from './claim.ts';
import type { Way } from './make.ts';
import { type Origin, originOf } from './origin.ts';
import type { RestoreFlags } from './restore.ts';

/** In place of a class: the one that there is without a flag. */
const STANDARD = '';

/** Asks for what is missing, where somebody can be asked. Throws a StowageError `usage` that names it where not. */
export async function complete<F extends Partial<RestoreFlags>>(
  given: NamespacedName | undefined,
  flags: F,
  io: Io,
  connect: () => Promise<Connection>,
): Promise<{ snapshot: NamespacedName; flags: F & { to: NamespacedName }; asked: boolean }> {
  const { to } = flags;
  if (
    !toAsk(lackingOf({ NAME: given, '--to': to }), io) &&
    given !== undefined &&
    to !== undefined
  ) {
    return { snapshot: given, flags: { ...flags, to }, asked: false };
  }
  const prompts = await io.prompts();
  const connection = await connect();
  const snapshot = given ?? (await oneSnapshot(prompts, connection, io));
  const asked = { ...flags, to: to ?? (await askClaim(prompts, connection, io)) };
  const namespace = snapshot.namespace ?? connection.namespace;
  // Without a size it would be an error that there is no such snapshot: it is, where somebody is asked.
  const origin = await originOf({ namespace, name: snapshot.name }, false, io, connection.client);
  const size = asked.size ?? (await askSize(origin, prompts));
  const storageClass = asked.storageClass ?? (await askClass(origin, prompts, connection, io));
  const more = {
    ...(size !== undefined && { size }),
    ...(storageClass !== undefined && { storageClass }),
  };
  return { snapshot, flags: { ...asked, ...more }, asked: true };
}

async function oneSnapshot(
  prompts: Prompts,
  connection: Connection,
  io: Io,
): Promise<NamespacedName> {
  const { namespace, name = '' } = await askSnapshot({ all: false }, prompts, connection, io);
  return { namespace, name };
}

async function askClaim(
  prompts: Prompts,
  { client, namespace: first }: Connection,
  io: Io,
): Promise<NamespacedName> {
  const namespace = await askNamespace(
    'Namespace of the new claim:',
    { first },
    prompts,
    client,
    io,
  );
  return { namespace, name: await prompts.input('Name of the new claim:', nameProblem) };
}

async function askSize({ sizeBytes }: Origin, prompts: Prompts): Promise<string | undefined> {
  if (sizeBytes === undefined)
    return prompts.input('Size of the claim, such as 10Gi:', problemBy(quantity));
  const least = formatBytes(sizeBytes);
  const answer = await prompts.input(
    `Size of the claim (empty: that of the snapshot, ${least}):`,
    (text) => {
      if (text === '') return undefined;
      return (
        problemBy(quantity)(text) ??
        (parseQuantity(text) < sizeBytes ? `The snapshot needs ${least}` : undefined)
      );
    },
  );
  return answer === '' ? undefined : answer;
}

/** Of the classes whose claims get what a snapshot has. */
async function askClass(
  { storageClassName }: Origin,
  prompts: Prompts,
  { client }: Connection,
  { signal }: Io,
): Promise<string | undefined> {
  const read = await reading(listAll<StorageClass>(client, STORAGE_CLASSES, { signal }));
  const names = (foundIn(read)?.items ?? [])
    .filter(({ provisioner }) => provisioner === DRIVER)
    .map(({ metadata }) => metadata.name);
  if (names.length === 0) return undefined;
  const own = storageClassName ?? '';
  if (names.length === 1 && names[0] === own) return undefined;
  const answer = await prompts.select('Storage class:', [
    ...(names.includes(own)
      ? [{ name: `${own}, as the claim has that it was taken of`, value: STANDARD }]
      : []),
    ...names.filter((name) => name !== own).map((name) => ({ name, value: name })),
  ]);
  return answer === STANDARD ? undefined : answer;
}

/** Shows the claim as the server would have it, and goes on only with a yes. Throws a StowageError `conflict` otherwise. */
export async function agreeToClaim(
  { snapshot, claim }: Wanted,
  { tried, link }: Way,
  flags: RestoreFlags & GlobalFlags,
  io: Io,
): Promise<void> {
  const made =
    link === undefined ? 'What is made' : 'What is made, and a VolumeSnapshotLink that it names';
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
  summarise({ sections: [[made, asYaml(asked(tried))]], command }, io);
  await agree('Create it?', io);
}

/** Without what the server adds to every object. */
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
