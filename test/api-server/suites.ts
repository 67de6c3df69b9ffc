import { binder } from './binder.ts';
import { builtinChange } from './cases/builtin-change.ts';
import { builtinCreate } from './cases/builtin-create.ts';
import { claimSources, claimSourcesAcross } from './cases/claim-sources.ts';
import { customWrites } from './cases/custom-writes.ts';
import { definitions } from './cases/definitions.ts';
import { deletion } from './cases/deletion.ts';
import { namespaces } from './cases/namespaces.ts';
import { patches } from './cases/patches.ts';
import { requests } from './cases/requests.ts';
import { shelves } from './cases/shelves.ts';
import { standardKinds } from './cases/standard-kinds.ts';
import { tables } from './cases/tables.ts';
import { election } from './election.ts';
import { kubeClient } from './kube-client.ts';
import { kubectlCustom } from './kubectl.ts';
import { kubectlBuiltin } from './kubectl-builtin.ts';
import { lists } from './lists.ts';
import type { Suite } from './server.ts';
import { asTables } from './tables.ts';
import { volumeCrd } from './volume-crd.ts';
import { watches } from './watches.ts';
import { writes } from './writes.ts';

/** Tests of an API server's responses. The sandbox and a real server must give the same. */
export const SUITES: Record<string, Suite> = {
  writes,
  lists,
  watches,
  requests,
  'custom resources': customWrites,
  schemas: shelves,
  definitions,
  patches,
  deletion,
  namespaces,
  'built-in kinds: create': builtinCreate,
  'built-in kinds: change': builtinChange,
  'sources of claims': claimSources,
  tables,
  'tables over HTTP': asTables,
  'standard kinds': standardKinds,
  'Volume CRD': volumeCrd,
  'kube client': kubeClient,
  election,
  'volumes and claims': binder,
};

/**
 * Tests of responses with the feature gate CrossNamespaceVolumeDataSource. The other suites use a
 * server with default gates.
 */
export const GATED_SUITES: Record<string, Suite> = { 'sources of claims': claimSourcesAcross };

/** Tests of the same responses through stock kubectl. */
export const KUBECTL_SUITES: Record<string, Suite> = {
  'kubectl, custom resources': kubectlCustom,
  'kubectl, built-in kinds': kubectlBuiltin,
};
