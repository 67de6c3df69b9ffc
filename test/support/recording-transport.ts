import type { KubeObject } from '../../src/api/meta.ts';
import type { Request, Transport } from '../../src/kube/transport.ts';

/** What a transport was used for, as rules of a Role say it: `verb resource.group`, with ` in NAMESPACE` where it is in one. */
export type Used = Set<string>;

/** A transport that notes what API servers ask permission for. */
export function recordingTransport(transport: Transport): { transport: Transport; used: Used } {
  const used: Used = new Set();
  return {
    used,
    transport: {
      ...transport,
      send(request) {
        note(request, used);
        return transport.send(request);
      },
      stream(request) {
        note(request, used);
        return transport.stream(request);
      },
    },
  };
}

function note({ what, path, body }: Request, used: Used): void {
  if (what === undefined) return;
  const group = /^\/apis\/([^/]+)\//.exec(path)?.[1] ?? '';
  const namespace = /\/namespaces\/([^/]+)\//.exec(path)?.[1];
  used.add(
    `${what.verb} ${what.resource}.${group}${namespace === undefined ? '' : ` in ${namespace}`}`,
  );
  if (what.verb === 'create') noteOwners(body as KubeObject, used);
}

/** Admission plugin OwnerReferencesPermissionEnforcement: who holds up the deletion of an owner must be allowed to. */
function noteOwners({ metadata }: KubeObject, used: Used): void {
  for (const { apiVersion, kind, blockOwnerDeletion } of metadata.ownerReferences ?? []) {
    if (blockOwnerDeletion)
      used.add(`update ${kind.toLowerCase()}s/finalizers.${apiVersion.split('/')[0]}`);
  }
}
