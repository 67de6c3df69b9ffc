import type { Answers } from '../../../ui/protocol.ts';
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

/**
 * Returns a function that answers requests for data. Equal requests at a time share one answer, so
 * that several tabs do not ask a node twice. It rejects with the error of the read.
 */
export function createReader(
  access: ReadAccess,
): (route: ReadRoute) => Promise<Answers[keyof Answers]> {
  const running = new Map<string, Promise<Answers[keyof Answers]>>();
  return ({ what, namespace, name }) => {
    const key = `${what} ${namespace}/${name}`;
    const known = running.get(key);
    if (known !== undefined) return known;
    const started = READERS[what]({ what, namespace, name }, access).finally(() =>
      running.delete(key),
    );
    running.set(key, started);
    return started;
  };
}
