import { CRDS } from '../../../api/crds.ts';
import type { KubeObject, Resource } from '../../../api/meta.ts';
import type { KubeClient } from '../../../kube/types.ts';
import { type Reading, readNamed } from '../read-result.ts';
import { type Definition, type Skew, skewOf } from './skew.ts';

const DEFINITIONS: Resource = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
};

/** Skew of a CRD. `unknown`: the user may not read it. */
export type CrdSkew = { name: string } & (Skew | { skew: 'unknown' });

/** Compares the CRDs of a cluster with this program's. Calls `warn` if one may not be read. */
export async function crdSkews(
  client: KubeClient,
  signal: AbortSignal,
  warn: (message: string) => void,
): Promise<CrdSkew[]> {
  return Promise.all(
    CRDS.map(async (ours): Promise<CrdSkew> => {
      const { name } = ours.metadata;
      const read: Reading<KubeObject & Definition> = await readNamed(client, DEFINITIONS, name, {
        signal,
      });
      if ('forbidden' in read) {
        warn(read.forbidden);
        return { name, skew: 'unknown' };
      }
      return { name, ...skewOf(ours, 'found' in read ? read.found : undefined) };
    }),
  );
}
