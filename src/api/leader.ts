import { CONTROLLERS, type ControllerName } from './controllers.ts';
import type { Lease } from './core.ts';
import { isDnsSubdomain } from './dns-name.ts';
import { DEFAULT_GATES, type FeatureGates } from './feature-gates.ts';
import { COMPONENT, LEADER_ANNOTATION } from './names.ts';

/** Settings of the daemon that leads, as its Lease has them. */
export interface Leader {
  version: string;
  featureGates: FeatureGates;
  /** Whether claims may start from VolumeSnapshotLinks. */
  links: boolean;
  controllers: readonly ControllerName[];
  transport: 'ssh' | 'salt' | 'local';
  /** The nodes that it acts for; undefined: all. */
  nodes?: readonly string[];
  /** For how long a detach waits for a node that is NotReady, in ms; Infinity: for ever; undefined: of an earlier version. */
  maxWaitForUnmountMs?: number;
}

const TRANSPORTS: readonly Leader['transport'][] = ['ssh', 'salt', 'local'];

/** JSON has no Infinity. */
const FOR_EVER = 'never';

/** The annotations of its Lease. */
export const leaderAnnotations = (leader: Leader): Record<string, string> => ({
  [LEADER_ANNOTATION]: JSON.stringify({
    ...leader,
    ...(leader.maxWaitForUnmountMs === Infinity && { maxWaitForUnmountMs: FOR_EVER }),
  }),
});

/** Parses a Lease's annotation; undefined without one, as of earlier versions, without a holder, and for one that is malformed. */
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
      // Earlier versions do not say it, and follow them.
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

/** undefined for a malformed value. */
function waitIn(text: unknown): number | undefined {
  if (text === FOR_EVER) return Infinity;
  return typeof text === 'number' && text > 0 ? text : undefined;
}

/** Clocks differ somewhat, and a renewal takes its time. ms */
const GRACE = 5000;

/** The Leases of daemons, of all that there are. */
export const leasesOfDaemons = (leases: readonly Lease[]): Lease[] =>
  leases.filter(({ metadata: { name } }) => name === COMPONENT || name.startsWith(`${COMPONENT}-`));

/** Whether it is held still. `now` in ms since the epoch. */
export function isHeld({ spec }: Lease, now: number): boolean {
  const renewed = Date.parse(spec?.renewTime ?? '');
  const until = renewed + (spec?.leaseDurationSeconds ?? 0) * 1000 + GRACE;
  return Boolean(spec?.holderIdentity) && now <= until;
}

/** The Leases of daemons for all nodes that lead beside the one of `namespace`: two would both act. `now` in ms since the epoch. */
export const leadingBeside = (leases: readonly Lease[], namespace: string, now: number): Lease[] =>
  leases.filter(
    (lease) =>
      lease.metadata.name === COMPONENT &&
      lease.metadata.namespace !== namespace &&
      isHeld(lease, now),
  );

/** In a few words: `0.1.0 over ssh, all controllers, without CrossNamespaceVolumeDataSource`. */
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
    nodes === undefined ? `nodes over ${transport}` : `of ${nodes.join(', ')}`,
    off.length === 0 ? 'all controllers' : `without the controllers ${off.join(', ')}`,
    ...gates,
    ...(links ? [] : ['without VolumeSnapshotLinks']),
  ].join(', ');
}
