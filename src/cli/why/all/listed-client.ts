import type { AnyEvent, Pod } from '../../../api/core.ts';
import { StowageError } from '../../../api/errors.ts';
import type { KubeList, KubeObject, Resource } from '../../../api/meta.ts';
import { PODS } from '../../../api/resources.ts';
import { listAll } from '../../../kube/client.ts';
import { ApiError } from '../../../kube/errors.ts';
import type { KubeClient, ListOptions, RequestOptions } from '../../../kube/types.ts';
import { type ReadClient, uses } from '../../lib/objects/related.ts';

/** Objects of a kind, with lookups. */
interface Listed {
  items: readonly KubeObject[];
  named(name: string, namespace: string | undefined): KubeObject | undefined;
  /** Returns the objects whose `values` include the value. `key` identifies the index. */
  where(
    key: string,
    values: (object: KubeObject) => readonly unknown[],
    value: string,
  ): KubeObject[];
}

export type ListedClient = Required<ReadClient>;

/**
 * Creates a client that reads from one list of each kind, requested at the first access to the
 * kind.
 * @param within namespace of the command, if restricted: each namespace then has its own list of a
 * namespaced kind
 */
export function createListedClient(
  client: Pick<KubeClient, 'get' | 'list'>,
  within: string | undefined,
  signal: AbortSignal,
): ListedClient {
  const lists = new Map<string, Promise<Listed>>();
  /** Responses for single objects of kinds that may not be listed. */
  const single = new Map<string, Promise<KubeObject>>();

  function listed(
    resource: Resource,
    asked: string | undefined,
    fieldSelector?: string,
  ): Promise<Listed> {
    const namespace = resource.namespaced && within !== undefined ? asked : undefined;
    const key = `${resource.group}/${resource.plural} ${namespace ?? ''} ${fieldSelector ?? ''}`;
    let list = lists.get(key);
    if (list === undefined) {
      list = listAll<KubeObject>(client, resource, { namespace, fieldSelector, signal }).then(
        ({ items }) => indexed(items),
      );
      lists.set(key, list);
    }
    return list;
  }

  /** Returns the objects of a kind that a list with these options contains. */
  async function select(resource: Resource, options: ListOptions): Promise<readonly KubeObject[]> {
    const { namespace, labelSelector, fieldSelector } = options;
    // The server evaluates it, and so omits the objects of a large namespace.
    const excluding = fieldSelector?.startsWith('metadata.namespace!=') ? fieldSelector : undefined;
    const all = await listed(resource, namespace, excluding);
    const inNamespace = ({ metadata }: KubeObject) =>
      namespace === undefined || metadata.namespace === namespace;
    if (fieldSelector !== undefined && excluding === undefined) {
      const [, name = ''] = fieldSelector.split('=');
      return all.where(INVOLVED, involvedName, name).filter(inNamespace);
    }
    if (labelSelector !== undefined) {
      const [label = '', value = ''] = labelSelector.split('=');
      return all
        .where(label, ({ metadata }) => [metadata.labels?.[label]], value)
        .filter(inNamespace);
    }
    return namespace === undefined
      ? all.items
      : all.where('namespace', ({ metadata }) => [metadata.namespace], namespace);
  }

  return {
    async get<T extends KubeObject>(
      resource: Resource,
      name: string,
      options: RequestOptions = {},
    ) {
      let found: KubeObject | undefined;
      try {
        found = (await listed(resource, options.namespace)).named(name, options.namespace);
      } catch (error) {
        // A single object may be readable nevertheless.
        if (!(error instanceof StowageError) || error.code !== 'forbidden') throw error;
        const key = JSON.stringify([resource.group, resource.plural, options.namespace, name]);
        const answer = single.get(key) ?? client.get<T>(resource, name, options);
        single.set(key, answer);
        return (await answer) as T;
      }
      if (found === undefined) throw notFound(resource, name);
      return found as T;
    },

    async list<T extends KubeObject>(resource: Resource, options: ListOptions = {}) {
      const all = await select(resource, options);
      const from = Number(options.continue ?? 0);
      const to = from + (options.limit ?? all.length);
      return {
        apiVersion: 'v1',
        kind: 'List',
        metadata: { resourceVersion: '', ...(to < all.length && { continue: String(to) }) },
        items: all.slice(from, to),
      } as KubeList<T>;
    },

    async podsOf(claim) {
      const { name, namespace } = claim.metadata;
      const pods = await listed(PODS, namespace);
      // A pod owns the claim of its generic ephemeral volume, whose name begins with the pod's.
      const owners = (claim.metadata.ownerReferences ?? []).map((owner) =>
        pods.named(owner.name, namespace),
      );
      const using = pods
        .where('claim', claimNames, name)
        .concat(owners.filter((pod) => pod != null));
      return ([...new Set(using)] as Pod[]).filter(
        (pod) => pod.metadata.namespace === namespace && uses(pod, claim),
      );
    },
  };
}

/** Returns the answer of the API server, which readers distinguish from other errors. */
const notFound = ({ plural }: Resource, name: string): ApiError =>
  new ApiError(
    {
      ...{ apiVersion: 'v1', kind: 'Status', status: 'Failure', reason: 'NotFound', code: 404 },
      message: `${plural} ${JSON.stringify(name)} not found`,
    },
    404,
    '',
  );

const INVOLVED = 'involvedObject.name';
const involvedName = (event: KubeObject) => [(event as AnyEvent).involvedObject?.name];

const claimNames = (pod: KubeObject) =>
  ((pod as Pod).spec.volumes ?? []).map((each) => each.persistentVolumeClaim?.claimName);

function indexed(items: readonly KubeObject[]): Listed {
  const names = new Map(
    items.map((each) => [`${each.metadata.namespace ?? ''}/${each.metadata.name}`, each]),
  );
  const indexes = new Map<string, Map<unknown, KubeObject[]>>();

  function index(values: (object: KubeObject) => readonly unknown[]): Map<unknown, KubeObject[]> {
    const found = new Map<unknown, KubeObject[]>();
    for (const each of items) {
      for (const value of values(each)) {
        const all = found.get(value);
        if (all === undefined) found.set(value, [each]);
        else all.push(each);
      }
    }
    return found;
  }

  return {
    items,
    named: (name, namespace = '') => names.get(`${namespace}/${name}`) ?? names.get(`/${name}`),
    where(key, values, value) {
      const known = indexes.get(key) ?? index(values);
      indexes.set(key, known);
      return known.get(value) ?? [];
    },
  };
}
