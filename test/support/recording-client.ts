import type { KubeObject, Resource } from '../../src/api/meta.ts';
import type { KubeClient, RequestOptions } from '../../src/kube/types.ts';

/** What a client was used for, as rules of a Role say it: `verb resource.group`, with ` in NAMESPACE` where it is in one. */
export type Used = Set<string>;

/** A client that notes what API servers ask permission for. */
export function recordingClient(client: KubeClient): { client: KubeClient; used: Used } {
  const used: Used = new Set();
  const note = (
    verb: string,
    { group, plural }: Resource,
    { namespace, subresource }: RequestOptions & { subresource?: string | undefined } = {},
  ) => {
    const resource = subresource === undefined ? plural : `${plural}/${subresource}`;
    used.add(`${verb} ${resource}.${group}${namespace === undefined ? '' : ` in ${namespace}`}`);
  };
  return {
    used,
    client: {
      get: (resource, name, options) => {
        note('get', resource, options);
        return client.get(resource, name, options);
      },
      list: (resource, options) => {
        note('list', resource, options);
        return client.list(resource, options);
      },
      watch: (resource, options) => {
        note('watch', resource, options);
        return client.watch(resource, options);
      },
      create: (resource, object, options) => {
        note('create', resource, { namespace: options?.namespace ?? object.metadata.namespace });
        noteOwners(object, used);
        return client.create(resource, object, options);
      },
      patch: (resource, name, patch, options) => {
        note('patch', resource, options);
        return client.patch(resource, name, patch, options);
      },
      delete: (resource, name, options) => {
        note('delete', resource, options);
        return client.delete(resource, name, options);
      },
    },
  };
}

/** Admission plugin OwnerReferencesPermissionEnforcement: who holds up the deletion of an owner must be allowed to. */
function noteOwners({ metadata }: KubeObject, used: Used): void {
  for (const { apiVersion, kind, blockOwnerDeletion } of metadata.ownerReferences ?? []) {
    if (blockOwnerDeletion) used.add(`update ${kind.toLowerCase()}s/finalizers.${apiVersion.split('/')[0]}`);
  }
}
