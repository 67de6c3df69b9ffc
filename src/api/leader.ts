import { CONTROLLERS, type ControllerName } from './controllers.ts';
import type { Lease } from './core.ts';
import { isDnsSubdomain } from './dns-name.ts';
import { DEFAULT_GATES, type FeatureGates } from './feature-gates.ts';
import { COMPONENT, LEADER_ANNOTATION } from './names.ts';

/** Settings of the leading daemon, as in its Lease. */
export interface Leader {
  version: string;
  featureGates: FeatureGates;
  /** Permits VolumeSnapshotLinks as data sources of claims. */
  links: boolean;
  controllers: readonly ControllerName[];
  transport: 'ssh' | 'salt' | 'local';
  /** Nodes that the daemon manages; undefined for all. */
  nodes?: readonly string[];
  /**
   * Time (ms) that a detach waits for a NotReady node; Infinity without a limit;
   * undefined from an earlier version.
   */
  maxWaitForUnmountMs?: number;
}

const TRANSPORTS: readonly Leader['transport'][] = ['ssh', 'salt', 'local'];

/** Infinity in JSON, which has no such number. */
const FOR_EVER = 'never';

/** Returns the annotations of the leader's Lease. */
export const leaderAnnotations = (leader: Leader): Record<string, string> => ({
  [LEADER_ANNOTATION]: JSON.stringify({
    ...leader,
    ...(leader.maxWaitForUnmountMs === Infinity && { maxWaitForUnmountMs: FOR_EVER }),
  }),
});

/**
 * Parses a Lease's annotation. Returns undefined if it is malformed or absent, as from earlier
 * versions, or if the Lease has no holder.
 */
export function leaderOf({ metadata, spec }: Lease): Leader | undefined {
  const text = metadata.annotations?.[LEADER_ANNOTATION];
  if (text === undefined || !spec?.holderIdentity) return undefined;
  try {
    const read = JSON.parse(text);
    const { version, featureGates, links, controllers, transport, nodes } = read;
    const maxWait = waitIn(read.maxWaitForUnmountMs);
    const known = TRANSPORTS.find((each) => each === transport);
    const isSound =
      typeof version === 'string' &&
      known !== undefined &&
      Array.isArray(controllers) &&
      (nodes === undefined ||
        (Array.isArray(nodes) && nodes.every((each) => isDnsSubdomain(String(each)))));
    if (!isSound) return undefined;
    const gates = Object.keys(DEFAULT_GATES) as (keyof FeatureGates)[];
    return {
      version: version.slice(0, 40),
      featureGates: Object.fromEntries(
        gates.map((gate) => [gate, featureGates?.[gate] === true]),
      ) as FeatureGates,
      // Earlier versions omit the field and support links.
      links: links !== false,
      controllers: CONTROLLERS.filter((name) => controllers.includes(name)),
      transport: known,
      ...(nodes === undefined ? {} : { nodes: nodes.map(String) }),
      ...(maxWait !== undefined && { maxWaitForUnmountMs: maxWait }),
    };
  } catch {
    return undefined;
  }
}

/** Returns undefined for a malformed value. */
function waitIn(text: unknown): number | undefined {
  if (text === FOR_EVER) return Infinity;
  return typeof text === 'number' && text > 0 ? text : undefined;
}

/** Tolerance (ms) for clock differences and slow renewals. */
const GRACE = 5000;

/** Returns the Leases of daemons. */
export const leasesOfDaemons = (leases: readonly Lease[]): Lease[] =>
  leases.filter(({ metadata: { name } }) => name === COMPONENT || name.startsWith(`${COMPONENT}-`));

/** Reports whether the Lease is still held. `now` is in ms since the epoch. */
export function isHeld({ spec }: Lease, now: number): boolean {
  const renewed = Date.parse(spec?.renewTime ?? '');
  const until = renewed + (spec?.leaseDurationSeconds ?? 0) * 1000 + GRACE;
  return Boolean(spec?.holderIdentity) && now <= until;
}

/**
 * Returns the held Leases of daemons for all nodes in other namespaces: two such leaders would both
 * act. `now` is in ms since the epoch.
 */
export const leadingBeside = (leases: readonly Lease[], namespace: string, now: number): Lease[] =>
  leases.filter(
    (lease) =>
      lease.metadata.name === COMPONENT &&
      lease.metadata.namespace !== namespace &&
      isHeld(lease, now),
  );

/**
 * Summarizes the settings: `version 0.1.0, nodes over ssh, all controllers, without
 * CrossNamespaceVolumeDataSource`.
 */
export function leaderText({
  version,
  featureGates,
  links,
  controllers,
  transport,
  nodes,
}: Leader): string {
  const off = CONTROLLERS.filter((name) => !controllers.includes(name));
  const gates = Object.entries(featureGates).map(
    ([gate, isOn]) => `${isOn ? 'with' : 'without'} ${gate}`,
  );
  return [
    `version ${version}`,
    nodes === undefined ? `nodes over ${transport}` : `nodes ${nodes.join(', ')}`,
    off.length === 0 ? 'all controllers' : `without the controllers ${off.join(', ')}`,
    ...gates,
    ...(links ? [] : ['without VolumeSnapshotLinks']),
  ].join(', ');
}
