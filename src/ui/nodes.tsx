import { useMemo } from 'preact/hooks';
import { roundedSize } from '../api/rounded-size.ts';
import { type ListColumn, Listing } from './listing.tsx';
import { Badge, Heading, SourceNotice, useStore } from './parts.tsx';
import type { ClassRoom } from './protocol.ts';
import { nodeLink } from './routes.ts';
import type { Store } from './store.ts';
import { byNode, knowledgeOf, type NodeSummary } from './summary.ts';

const COLUMNS: readonly ListColumn<NodeSummary>[] = [
  {
    heading: 'Node',
    by: ({ name }) => name,
    draw: ({ name }) => <a href={nodeLink(name)}>{name}</a>,
    width: 20,
  },
  { heading: 'Ready', by: ({ node }) => readyText(node?.ready), width: 17 },
  {
    heading: 'Paused',
    by: ({ node }) => (node?.paused ? 'paused' : ''),
    draw: ({ node }) => (node?.paused ? <Badge text="Paused" /> : '–'),
    width: 10,
    isExtra: true,
  },
  { heading: 'Volumes', by: ({ total }) => total, width: 14 },
  { heading: 'Failed', by: ({ failed }) => failed, width: 12 },
  {
    heading: 'Size',
    by: ({ bytes }) => bytes,
    draw: ({ bytes }) => roundedSize(bytes),
    width: 9,
    isExtra: true,
  },
  { heading: 'Room by class', by: ({ node }) => roomText(node?.room), width: 18, isExtra: true },
];

const texts = ({ name, node }: NodeSummary) => [name, roomText(node?.room)];

/** Lists nodes, with what their Volumes sum up to. */
export function Nodes({ store }: { store: Store }) {
  const { state, revision } = useStore(store);
  const { connection, sources } = state;
  const rows = useMemo(() => byNode(state.volumes.values(), state.nodes.values()), [revision]);
  const known = knowledgeOf(sources.get('nodes'), connection, state.nodes.size);
  const volumes = knowledgeOf(sources.get('volumes'), connection, state.volumes.size);
  const room = knowledgeOf(sources.get('csistoragecapacities'), connection, state.nodes.size);
  return (
    <>
      <Heading title="Nodes">Nodes</Heading>
      <Listing
        kind="nodes"
        rows={rows}
        columns={COLUMNS}
        texts={texts}
        searched="name or class"
        isLoading={known.unknown}
        empty={<p class="muted">There are no nodes.</p>}
        notices={
          <>
            <SourceNotice source={known.problem} kind="Nodes" />
            <SourceNotice source={volumes.problem} kind="Volumes" />
            <SourceNotice source={room.problem} kind="Room by class" />
          </>
        }
      />
    </>
  );
}

/** Returns the condition Ready of a Node in words; undefined is that of no Node. */
export const readyText = (ready: string | undefined): string =>
  ready === undefined ? 'not in the cluster' : ready === '' ? 'Unknown' : ready;

export const roomText = (room: readonly ClassRoom[] = []): string =>
  room.map(({ storageClass, bytes }) => `${storageClass} ${roundedSize(bytes)}`).join(', ');
