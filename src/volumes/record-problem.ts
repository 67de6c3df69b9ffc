import { basename } from 'node:path';
import { directoryWanted } from '../api/directory.ts';
import { isDnsSubdomain } from '../api/dns-name.ts';
import type { Volume } from '../api/volume.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Why nothing may be done on a node by what the Volume's object says. Whoever may write a status could otherwise have
 * any file of a node removed.
 */
export function recordProblem({ metadata, status }: Volume): string | undefined {
  const { uid = '' } = metadata;
  if (!UUID.test(uid)) return `metadata.uid is ${JSON.stringify(uid)}, which is no UUID`;
  const prepared = status?.prepared;
  if (prepared === undefined) return undefined;
  const [file = '', ...others] = prepared.paths ?? [];
  const ours = basename(file) === uid && directoryWanted(file) === undefined && others.length === 0;
  return ours && isDnsSubdomain(prepared.node ?? '')
    ? undefined
    : `status.prepared names ${JSON.stringify(prepared.paths)} on node ${JSON.stringify(prepared.node)}, which Stowage never wrote there`;
}
