import type { KubeObject, Resource } from '../../../api/meta.ts';
import { listAll } from '../../../kube/client.ts';
import { about } from '../batch.ts';
import type { Io } from '../io.ts';
import { selected } from '../objects/selector.ts';
import { type Selection, watchObjects } from '../objects/watch.ts';
import type { GetRequest } from './resource-view.ts';

export interface ObjectSource<O> {
  resource: Resource;
  /** Chooses among objects that are not named. Default: all. */
  isWanted?(object: O): boolean;
  /** Throws another error in place of the one of a request. */
  failed?(error: unknown): never;
}

export function selectionOf<O>(
  { names, flags, connection }: Pick<GetRequest<never>, 'names' | 'flags' | 'connection'>,
  { resource, isWanted = () => true }: ObjectSource<O>,
): Selection<O> {
  const { client, namespace } = connection;
  return {
    client,
    resource,
    names,
    selector: flags.selector,
    namespace: resource.namespaced && !flags.allNamespaces ? namespace : undefined,
    isWanted: names.length > 0 ? () => true : isWanted,
  };
}

/**
 * Reads the named objects, else all selected and wanted ones. Returns the errors of failed names.
 */
export async function readObjects<O extends KubeObject>(
  { client, resource, names, selector, namespace, isWanted }: Selection<O>,
  { signal }: Pick<Io, 'signal'>,
  failed = rethrow,
): Promise<{ objects: O[]; errors: unknown[] }> {
  const options = { namespace, signal };
  if (names.length === 0) {
    const list = listAll<O>(client, resource, { ...options, labelSelector: selector });
    const { items } = await selected(selector, list).catch(failed);
    return { objects: items.filter(isWanted), errors: [] };
  }
  const objects: O[] = [];
  const errors: unknown[] = [];
  for (const name of names) {
    try {
      objects.push(await client.get<O>(resource, name, options).catch(failed));
    } catch (error) {
      if (signal.aborted) throw error;
      const where = namespace === undefined ? {} : { namespace };
      errors.push(about(error, { kind: resource.kind, name, ...where }));
    }
  }
  return { objects, errors };
}

function rethrow(error: unknown): never {
  throw error;
}

/** Shows objects as they are, or prints them and their changes. Throws a StowageError. */
export async function getObjects<O extends KubeObject>(
  request: GetRequest<O>,
  source: ObjectSource<O>,
): Promise<void> {
  const { flags, io } = request;
  const selection = selectionOf(request, source);
  const { objects, errors } = await readObjects(selection, io, source.failed);
  if (!flags.watch || errors.length > 0) return request.show(objects, errors);
  await watchObjects(selection, request.sorted(objects), request.printer(), io);
}
