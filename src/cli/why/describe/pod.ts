import { age } from '../../../api/age.ts';
import { phaseOf } from '../../../api/phase.ts';
import type { Volume } from '../../../api/volume.ts';
import type { Describe } from '../../lib/describe-command.ts';
import { eventTable, headFields, shown, tableField } from '../../lib/objects/description.ts';
import { eventsOf } from '../../lib/objects/events.ts';
import { type FieldValue, fields } from '../../lib/output/fields.ts';
import { type Reading, reading } from '../../lib/read-result.ts';
import { clusterOf, explainPod } from '../explain.ts';
import { conditionOf } from '../pod/attached.ts';
import type { PodFacts, PodVolume } from '../pod/facts.ts';
import { blockedBy } from '../why.ts';

/** Returns what `stowage describe pod` prints. Throws a StowageError. */
export const describePod: Describe = async (name, io, connection) => {
  const { client } = connection;
  const cluster = clusterOf(connection, client, io.signal);
  const explained = await explainPod({ kind: 'Pod', ...name }, io, cluster);
  const { pod, volumes } = explained.known;
  const { namespace = '', uid } = pod.metadata;
  const about = { namespace, name: pod.metadata.name, uid };
  const events = await reading(eventsOf(client, about, io.signal));
  const now = io.clock.timeOfDay();
  return fields([
    ...headFields(pod, now),
    ['Phase', explained.subject.phase],
    ['Node', pod.spec.nodeName],
    ['Blocked by', await blockedBy(explained, io, client)],
    ['Volumes', volumeTable(volumes)],
    ['Conditions', conditionTable(explained.known, now)],
    ['Events', shown(events, (all) => eventTable(all.events, now))],
  ]);
};

/** Returns a table of volumes that may be of Stowage, with the nodes that they are attached to. */
const volumeTable = (volumes: readonly PodVolume[]): FieldValue =>
  tableField(
    ['CLAIM', 'STATUS', 'VOLUME', 'PHASE', 'ATTACHMENTS'],
    volumes.map(({ claimName, claim, dynamic, ...more }) => {
      const volume = more.volume ?? dynamic?.volume ?? { absent: true };
      return [
        claimName?.split('/').at(-1),
        claimName && cell(claim, ({ status }) => status?.phase ?? 'Pending', 'missing'),
        cell(volume, ({ metadata }) => metadata.name),
        cell(volume, (found) => phaseOf(found) ?? 'Unknown'),
        cell(volume, attachmentsText),
      ];
    }),
  );

/** Returns a cell about an object. If the user may not read it, a note names the reason. */
const cell = <T>(
  what: Reading<T>,
  text: (found: T) => string | undefined,
  absent?: string,
): string | undefined =>
  'found' in what ? text(what.found) : 'absent' in what ? absent : 'not shown';

const attachmentsText = ({ status }: Volume): string =>
  (status?.attachments ?? []).map(({ node, state }) => `${state} on ${node}`).join(', ');

/** Returns the condition that Stowage writes. */
function conditionTable(known: PodFacts, now: number): FieldValue {
  const condition = conditionOf(known);
  return tableField(
    ['TYPE', 'STATUS', 'REASON', 'SINCE', 'MESSAGE'],
    condition === undefined
      ? []
      : [
          [
            condition.type,
            condition.status,
            condition.reason,
            age(condition.lastTransitionTime, now),
            condition.message,
          ],
        ],
  );
}
