import type { Answers } from '../../../ui/protocol.ts';
import { joinRuns } from '../join-runs.ts';
import { readGrants } from './grants.ts';
import { checkNode } from './node-check.ts';
import { readNodeDetail } from './node-detail.ts';
import { readNodeDevices } from './node-devices.ts';
import { readObject } from './object-detail.ts';
import { readPopulators } from './populators.ts';
import type { ReadAccess } from './read-access.ts';
import type { ReadRoute } from './read-route.ts';
import { readVolumeUsage } from './volume-usage.ts';

const READERS: {
  [K in keyof Answers]: (route: ReadRoute, access: ReadAccess) => Promise<Answers[K]>;
} = {
  claim: ({ namespace, name }, { run }) => readObject(`pvc/${namespace}/${name}`, run),
  snapshot: ({ namespace, name }, { run }) => readObject(`snapshot/${namespace}/${name}`, run),
  node: readNodeDetail,
  check: checkNode,
  devices: readNodeDevices,
  usage: readVolumeUsage,
  grants: (_route, access) => readGrants(access),
  populators: (_route, access) => readPopulators(access),
};

/** Maximum reads at a time: each runs commands, or contacts a node. */
const MOST_READS = 16;

/**
 * Returns a function that answers requests for data. Equal requests at a time share one answer, so
 * that several tabs do not ask a node twice. It rejects with the error of the read.
 */
export const createReader = (
  access: ReadAccess,
): ((route: ReadRoute) => Promise<Answers[keyof Answers]>) =>
  joinRuns<ReadRoute, Answers[keyof Answers]>(
    MOST_READS,
    ({ what, namespace, name }) => `${what} ${namespace}/${name}`,
    (route) => READERS[route.what](route, access),
  );
