import { useMemo } from 'preact/hooks';
import { VolumeName } from './links.tsx';
import { type ListColumn, Listing } from './listing.tsx';
import { Age, Badge, Heading, SourceNotice, useStore } from './parts.tsx';
import { nodeLink } from './routes.ts';
import type { Store } from './store.ts';
import { type AttachmentSummary, attachmentsOf, knowledgeOf } from './summary.ts';
import { youngestFirst } from './table.ts';

const COLUMNS: readonly ListColumn<AttachmentSummary>[] = [
  {
    heading: 'Volume',
    by: ({ volume }) => volume,
    draw: ({ volume }) => <VolumeName name={volume} />,
    width: 19,
  },
  {
    heading: 'Node',
    by: ({ node }) => node,
    draw: ({ node }) => <a href={nodeLink(node)}>{node}</a>,
    width: 14,
  },
  {
    heading: 'State',
    by: ({ state }) => state,
    draw: ({ state }) => <Badge text={state} />,
    width: 12,
  },
  { heading: 'Device', by: deviceText, width: 13, isExtra: true },
  { heading: 'Pods', by: ({ pods }) => pods.join(', '), width: 17, isExtra: true },
  { heading: 'Message', by: ({ message }) => message, width: 15, isExtra: true },
  {
    heading: 'Since',
    by: ({ since }) => youngestFirst(since),
    draw: ({ since }, now) => <Age value={since} now={now} />,
    width: 10,
    isExtra: true,
  },
];

const texts = (row: AttachmentSummary) => [
  row.volume,
  row.node,
  row.state,
  row.device,
  row.message,
  ...row.pods,
];

/** Lists the devices of Volumes on nodes, as the Volumes' status records them. */
export function Attachments({ store }: { store: Store }) {
  const { state, revision } = useStore(store);
  const { sources, connection } = state;
  const rows = useMemo(() => attachmentsOf(state.volumes.values()), [revision]);
  const known = knowledgeOf(sources.get('volumes'), connection, state.volumes.size);
  return (
    <>
      <Heading title="Attachments">Attachments</Heading>
      <Listing
        kind="attachments"
        rows={rows}
        columns={COLUMNS}
        texts={texts}
        searched="Volume, node, pod or message"
        isLoading={known.unknown}
        empty={
          sources.get('volumes')?.state === 'listed' && (
            <p class="muted">
              No node is recorded as having the device of a Volume. A Volume is attached once a pod
              needs it, or at once: its attach policy decides.
            </p>
          )
        }
        notices={<SourceNotice source={known.problem} kind="Volumes" />}
      />
    </>
  );
}

function deviceText({ device, readOnly }: AttachmentSummary): string {
  return readOnly ? `${device} (read-only)` : device;
}
