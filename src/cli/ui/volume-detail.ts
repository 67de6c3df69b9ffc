import type { AnyEvent } from '../../api/core.ts';
import { VOLUMES } from '../../api/resources.ts';
import type { Volume } from '../../api/volume.ts';
import { sizeIn } from '../../api/volume-size.ts';
import type { KubeClient } from '../../kube/types.ts';
import { driversOf } from '../../storage/registry.ts';
import type { ClaimDetail, EventRow, Field, Part, VolumeDetail } from '../../ui/protocol.ts';
import type { GlobalFlags } from '../lib/globals.ts';
import { type Consumers, lastSeen, readConsumers, readEvents } from '../lib/objects/related.ts';
import { asYaml } from '../lib/output/data.ts';
import { readableSize } from '../lib/output/size.ts';
import { foundIn, type Reading } from '../lib/read-result.ts';
import { createCommand } from './create-command.ts';
import {
  dataWithoutCredentials,
  publicLines,
  publicMessage,
  publicName,
  publicPair,
  publicTime,
} from './public-text.ts';
import { conditionRow, volumeRow } from './rows.ts';
import type { RunCommand } from './run-command.ts';
import { readWhy } from './why-detail.ts';

/** Maximum events and pods that the page gets: the newest events, and the first pods. */
const MOST_EVENTS = 50;
const MOST_PODS = 50;

/**
 * Reads a Volume with what belongs to it, as the user. `name` is a valid name. Throws a
 * StowageError if the Volume cannot be read; other parts that cannot be read are missing.
 */
export async function readVolumeDetail(
  name: string,
  client: KubeClient,
  run: RunCommand,
  flags: Pick<GlobalFlags, 'kubeconfig' | 'context' | 'as'>,
  signal: AbortSignal,
): Promise<VolumeDetail> {
  const volume = await client.get<Volume>(VOLUMES, name, { signal });
  const [[consumers, events], why] = await Promise.all([
    readRelated(client, volume, signal),
    readWhy(`volume/${name}`, run),
  ]);
  return { ...volumeDetail(volume, consumers, events, flags), why };
}

async function readRelated(
  client: KubeClient,
  volume: Volume,
  signal: AbortSignal,
): Promise<[Consumers, Reading<AnyEvent[]>]> {
  const consumers = await readConsumers(client, volume, signal);
  return [consumers, await readEvents(client, volume, foundIn(consumers.pv), signal)];
}

/** Returns named fields of a Volume and its objects, as safe texts of bounded length. Pure. */
export function volumeDetail(
  volume: Volume,
  { pv, claim, pods }: Consumers,
  events: Reading<AnyEvent[]>,
  flags: Pick<GlobalFlags, 'kubeconfig' | 'context' | 'as'>,
): Omit<VolumeDetail, 'why'> {
  const { status } = volume;
  const command = createCommand(volume, flags);
  const row = volumeRow(volume, foundIn(pv));
  return {
    row,
    fields: fieldsOf(volume),
    conditions: (status?.conditions ?? []).map(conditionRow),
    ...jobOf(volume),
    claim: part(
      'forbidden' in pv ? pv : claim,
      ({ metadata, status: found }): ClaimDetail => ({
        name: publicPair(metadata.namespace, metadata.name),
        phase: publicName(found?.phase),
        pods: part(pods, (all) =>
          all.slice(0, MOST_PODS).map((pod) => publicName(pod.metadata.name)),
        ),
      }),
    ),
    events: part(events, (all) => all.slice(-MOST_EVENTS).map(eventRow)),
    command:
      command === undefined
        ? { missing: 'No flags express this spec. Create the Volume from its YAML.' }
        : { found: command },
    yaml: { found: publicLines(asYaml(dataWithoutCredentials(volume))) },
  };
}

/** Returns a part, or why it is missing: '' if the object does not exist. */
function part<T, U>(reading: Reading<T>, draw: (found: T) => U): Part<U> {
  if ('found' in reading) return { found: draw(reading.found) };
  return { missing: 'forbidden' in reading ? publicMessage(reading.forbidden) : '' };
}

/** Fields of the spec and the status, with the labels of `stowage describe`. */
function fieldsOf({ metadata, spec, status }: Volume): Field[] {
  const device = status?.deviceName;
  const kinds = driversOf(spec).flatMap((driver): [string, string | undefined][] => [
    ['Type', driver.label],
    ['Size', sizeIn(spec, driver.field)],
    ...driver.describe(spec),
  ]);
  const all: [string, string | undefined][] = [
    ['UID', metadata.uid],
    ['Node', spec.nodeName],
    ...kinds,
    ['Storage class', spec.storageClassName],
    ['Mode', spec.mode ?? 'Filesystem'],
    ['Attach policy', spec.attachPolicy],
    ['Attachable nodes', spec.attachableNodes?.join(', ')],
    ['On delete', spec.onDelete],
    ['Overwrite', spec.overwrite],
    ['Device', device === undefined ? undefined : `/dev/${device}`],
    ['Path', status?.devicePath],
    ['Capacity', status?.capacity && readableSize(status.capacity)],
    ['Job', status?.job],
    ['Attempt', status?.attempt === undefined ? undefined : String(status.attempt)],
    ['Prepared on', status?.prepared?.node],
    ['Prepared paths', status?.prepared?.paths.join(', ')],
  ];
  return all.flatMap(([label, value]) =>
    value === undefined || value === '' ? [] : [[label, publicMessage(value)] as const],
  );
}

/** Returns the last job of a Volume. The condition Ready tells when it last reported. */
function jobOf({ status }: Volume): Pick<VolumeDetail, 'job'> {
  if (!status?.job) return {};
  const ready = status.conditions?.find(({ type }) => type === 'Ready');
  return {
    job: {
      name: publicName(status.job),
      attempt: status.attempt ?? 1,
      reported: publicTime(ready?.lastUpdateTime),
    },
  };
}

const eventRow = (event: AnyEvent): EventRow => ({
  type: publicName(event.type),
  reason: publicName(event.reason),
  message: publicMessage(event.message),
  last: publicTime(lastSeen(event)),
  first: publicTime(event.firstTimestamp ?? event.eventTime),
  count: event.series?.count ?? event.count ?? 1,
  from: publicName(event.source?.component || event.reportingComponent),
});
