import { useMemo } from 'preact/hooks';
import { roundedSize } from '../api/rounded-size.ts';
import { reads } from './api.ts';
import { ObjectLink } from './links.tsx';
import { readyText, roomText } from './nodes.tsx';
import { OnDemand } from './on-demand.tsx';
import { Badge, Code, Heading, Notice, SmallTable, SourceNotice, useStore } from './parts.tsx';
import type { BlockedGroup, SourceState } from './protocol.ts';
import { nodeLink, volumesLink } from './routes.ts';
import type { Store } from './store.ts';
import { byNode, byPhase, knowledgeOf, type NodeSummary } from './summary.ts';
import { useAnswer } from './use-answer.ts';

/** Shows Volumes by phase, nodes with their room, and what is blocked. */
export function Overview({ store }: { store: Store }) {
  const { state, revision } = useStore(store);
  const phases = useMemo(() => byPhase(state.volumes.values()), [revision]);
  const nodes = useMemo(() => byNode(state.volumes.values(), state.nodes.values()), [revision]);
  const { connection, sources } = state;
  const volumes = knowledgeOf(sources.get('volumes'), connection, state.volumes.size);
  const nodesKnown = knowledgeOf(sources.get('nodes'), connection, state.nodes.size);
  const room = knowledgeOf(sources.get('csistoragecapacities'), connection, state.nodes.size);
  if (volumes.unknown || nodesKnown.unknown) {
    return (
      <>
        <Heading title="Overview">Overview</Heading>
        {/* Parts that arrive one after another would move each other. */}
        <p class="muted">Loading Volumes and nodes…</p>
        <SourceNotice source={volumes.problem} kind="Volumes" />
        <SourceNotice source={nodesKnown.problem} kind="Nodes" />
      </>
    );
  }
  const isEmpty = sources.get('volumes')?.state === 'listed' && state.volumes.size === 0;
  return (
    <>
      <Heading title="Overview">Overview</Heading>
      <section aria-labelledby="phases">
        <h2 id="phases">Volumes by phase</h2>
        <ul class="tiles">
          {phases.map(({ phase, count }) => (
            <li key={phase}>
              <a class="tile" href={volumesLink({ phase })}>
                <span class="number">{count.toLocaleString()}</span>
                <Badge text={phase} />
              </a>
            </li>
          ))}
        </ul>
        <SourceNotice source={volumes.problem} kind="Volumes" />
        {isEmpty && (
          <Notice title="There are no Volumes">
            <p>
              Create one in a terminal: <code>stowage create volume</code> asks for what it needs.
            </p>
          </Notice>
        )}
      </section>
      <Nodes
        nodes={nodes}
        isListed={sources.get('nodes')?.state === 'listed'}
        problem={nodesKnown.problem}
        roomProblem={room.problem}
      />
      <BlockedSection />
    </>
  );
}

function Nodes(props: {
  nodes: readonly NodeSummary[];
  isListed: boolean;
  problem: SourceState | undefined;
  roomProblem: SourceState | undefined;
}) {
  const { nodes, isListed, problem, roomProblem } = props;
  return (
    <section aria-labelledby="nodes">
      <h2 id="nodes">Nodes</h2>
      {nodes.length > 0 && (
        <SmallTable
          label="Nodes"
          headings={['Node', 'Ready', 'Volumes', 'Failed', 'Size of Volumes', 'Room by class']}
          rows={nodes.map(({ name, node, total, failed, bytes }) => ({
            key: name,
            cells: [
              <a key="link" href={nodeLink(name)}>
                {name}
              </a>,
              node?.paused ? `${readyText(node.ready)}, paused` : readyText(node?.ready),
              total.toLocaleString(),
              failed.toLocaleString(),
              roundedSize(bytes),
              roomText(node?.room) || '–',
            ],
          }))}
        />
      )}
      {nodes.length === 0 && isListed && <p class="muted">There are no nodes.</p>}
      <SourceNotice source={problem} kind="Nodes" />
      <SourceNotice source={roomProblem} kind="Room by class" />
    </section>
  );
}

/** Lists what is blocked, on demand: the answer takes a list of several kinds. */
function BlockedSection() {
  const state = useAnswer(reads.blocked);
  return (
    <OnDemand
      title="Blocked"
      id="blocked"
      state={state}
      button="Find causes"
      busy="Reading the cluster…"
      problem="The causes could not be read"
      about={
        <>
          Lists Volumes, claims, snapshots and pods that cannot proceed, by cause, as{' '}
          <code>stowage why --all</code> does.
        </>
      }
      draw={({ groups: all }) => (
        <>
          {all.length === 0 && <p>Nothing is blocked.</p>}
          {byCause(all).map(([cause, groups], index) => (
            <details key={cause} open={index === 0 || groups.length === 1}>
              <summary>
                {cause} <span class="muted">{objectsText(groups)}</span>
              </summary>
              {groups.map((group) => (
                <Group key={group.root} group={group} />
              ))}
            </details>
          ))}
        </>
      )}
    />
  );
}

/** Returns groups by cause, in their order: the worst first. */
const byCause = (groups: readonly BlockedGroup[]): [cause: string, groups: BlockedGroup[]][] => [
  ...Map.groupBy(groups, ({ cause }) => cause),
];

function objectsText(groups: readonly BlockedGroup[]): string {
  const total = groups.reduce((sum, each) => sum + each.total, 0);
  return `${total.toLocaleString()} ${total === 1 ? 'object' : 'objects'}`;
}

function Group({ group }: { group: BlockedGroup }) {
  const { root, holdup, fix, command, objects, total } = group;
  const more = total - objects.length;
  /** Set if the object is blocked by itself. */
  const isOwn = total === 1 && `${objects[0]?.kind} ${objects[0]?.name}` === root;
  return (
    <article class="card">
      <h3>{isOwn ? <ObjectName object={objects[0]} /> : root}</h3>
      <p class="prose">{holdup}</p>
      {fix !== '' && (
        <p class="prose">
          <strong>Fix:</strong> {fix}
        </p>
      )}
      {command !== '' && <Code text={command} label="command of the fix" />}
      {!isOwn && (
        <ul class="names">
          {objects.map(({ kind, name }) => (
            <li key={`${kind} ${name}`}>
              <ObjectName object={{ kind, name }} />
            </li>
          ))}
          {more > 0 && <li>and {more.toLocaleString()} more</li>}
        </ul>
      )}
    </article>
  );
}

/** Shows an object, as a link if it has a screen. */
function ObjectName({ object }: { object: { kind: string; name: string } | undefined }) {
  if (object === undefined) return null;
  const { kind, name } = object;
  return <ObjectLink kind={kind} name={name} text={`${kind} ${name}`} />;
}
