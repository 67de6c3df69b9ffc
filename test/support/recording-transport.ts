import type { KubeObject } from '../../src/api/meta.ts';
import type { Request, Transport } from '../../src/kube/transport.ts';

/**
 * Uses of a transport, as in the rules of a Role: `verb resource.group`, followed by ` in
 * NAMESPACE` for a namespaced request.
 */
export type Used = Set<string>;

/** Returns a transport that records the permissions that its requests need. */
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

/**
 * Admission plugin OwnerReferencesPermissionEnforcement: blockOwnerDeletion requires permission on
 * the owner's finalizers.
 */
function noteOwners({ metadata }: KubeObject, used: Used): void {
  for (const { apiVersion, kind, blockOwnerDeletion } of metadata.ownerReferences ?? []) {
    if (blockOwnerDeletion)
      used.add(`update ${kind.toLowerCase()}s/finalizers.${apiVersion.split('/')[0]}`);
  }
}
