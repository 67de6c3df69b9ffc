import type {
  AttachmentRow,
  ClaimRow,
  ConnectionState,
  NodeRow,
  SnapshotRow,
  SourceState,
  VolumeRow,
} from './protocol.ts';

/** Phases in the order of the page. Others follow. */
const PHASES = ['Available', 'Pending', 'Failed', 'Terminating', 'Unknown'];

export interface PhaseCount {
  phase: string;
  count: number;
}

/** Returns the number of Volumes of each phase; 0 for known phases without Volumes. */
export function byPhase(volumes: Iterable<VolumeRow>): PhaseCount[] {
  const counts = new Map(PHASES.map((phase) => [phase, 0]));
  for (const { phase } of volumes) counts.set(phase, (counts.get(phase) ?? 0) + 1);
  return [...counts].map(([phase, count]) => ({ phase, count }));
}

export interface NodeSummary {
  name: string;
  /** Undefined if the cluster has no such Node, or its Nodes may not be listed. */
  node: NodeRow | undefined;
  total: number;
  failed: number;
  /** Sum of the sizes of its Volumes. */
  bytes: number;
}

/** Returns all nodes that exist or that Volumes name, by name. */
export function byNode(volumes: Iterable<VolumeRow>, nodes: Iterable<NodeRow>): NodeSummary[] {
  const all = new Map<string, NodeSummary>();
  const summary = (name: string): NodeSummary => {
    const known = all.get(name) ?? { name, node: undefined, total: 0, failed: 0, bytes: 0 };
    all.set(name, known);
    return known;
  };
  for (const node of nodes) summary(node.name).node = node;
  for (const { node, phase, bytes } of volumes) {
    if (node === '') continue;
    const found = summary(node);
    found.total += 1;
    found.bytes += bytes;
    if (phase === 'Failed') found.failed += 1;
  }
  return [...all.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

export interface AttachmentSummary extends AttachmentRow {
  /** `VOLUME/NODE`. */
  name: string;
  volume: string;
}

/** Returns the attachments of all Volumes. */
export const attachmentsOf = (volumes: Iterable<VolumeRow>): AttachmentSummary[] =>
  [...volumes].flatMap(({ name, attachments }) =>
    attachments.map((each) => ({ ...each, name: `${name}/${each.node}`, volume: name })),
  );

export interface SnapshotSummary extends SnapshotRow {
  /** Volume of its claim; '' if it is unknown. */
  volume: string;
}

/** Adds to snapshots the Volumes that they were taken of. */
export const withVolumes = (
  snapshots: Iterable<SnapshotRow>,
  claims: ReadonlyMap<string, ClaimRow>,
): SnapshotSummary[] =>
  [...snapshots].map((row) => ({ ...row, volume: claims.get(row.claim)?.volume ?? '' }));

/** Returns the snapshots of a claim (`NAMESPACE/NAME`), the newest first. */
export const snapshotsOf = (snapshots: Iterable<SnapshotRow>, claim: string): SnapshotRow[] =>
  [...snapshots]
    .filter((row) => row.claim === claim)
    .sort((a, b) => (a.created > b.created ? -1 : a.created < b.created ? 1 : 0));

/**
 * Returns how a screen shows a kind. `unknown`: nothing was listed yet. `problem`: the state to
 * explain. While the API server does not answer at all, the bar at the bottom explains that.
 * @param count number of known objects
 */
export function knowledgeOf(
  source: SourceState | undefined,
  connection: ConnectionState | undefined,
  count: number,
): { unknown: boolean; problem: SourceState | undefined } {
  const state = source?.state ?? 'loading';
  const unknown = state === 'loading' || (state === 'failed' && count === 0);
  const isExplained = state === 'failed' && connection?.connected === false;
  const isProblem = state === 'refused' || state === 'failed';
  return { unknown, problem: isProblem && !isExplained ? source : undefined };
}
