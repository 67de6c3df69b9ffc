import { createHash } from 'node:crypto';
import { StowageError } from '../../../api/errors.ts';
import type { KubeObject, Resource } from '../../../api/meta.ts';
import type { Connection } from '../../../kube/connect.ts';
import type { DeleteOptions, KubeClient, PatchOptions } from '../../../kube/types.ts';

/** Write that a command is about to send. */
export interface Write {
  verb: 'create' | 'change' | 'delete';
  resource: Resource;
  /** Undefined for an object without a namespace. */
  namespace: string | undefined;
  name: string;
  /** Object or patch; undefined for a deletion. */
  body: object | undefined;
  options: DeleteOptions & PatchOptions;
}

/** Decides on a write, which `send` sends, with options of its own if given. */
export type TakeWrite = <T>(
  write: Write,
  send: (options?: Write['options']) => Promise<T>,
) => Promise<T>;

/** Returns a client whose writes, except dry runs, are decided on by `take`. */
export function withWrites(client: KubeClient, take: TakeWrite): KubeClient {
  function decided<T>(write: Write, send: (options: Write['options']) => Promise<T>): Promise<T> {
    const { options } = write;
    // Dry runs store nothing.
    return options.dryRun ? send(options) : take(write, (own = options) => send(own));
  }
  return {
    serverTime: () => client.serverTime(),
    get: client.get.bind(client),
    list: client.list.bind(client),
    watch: client.watch.bind(client),
    create: <T extends KubeObject>(resource: Resource, object: T, options: PatchOptions = {}) => {
      const { name, namespace = undefined } = object.metadata;
      return decided<T>(
        {
          ...{ verb: 'create', resource, name, body: object, options },
          namespace: options.namespace ?? namespace,
        },
        (own) => client.create(resource, object, own),
      );
    },
    patch: <T extends KubeObject>(
      resource: Resource,
      name: string,
      patch: object,
      options: PatchOptions = {},
    ) =>
      decided<T>(
        { verb: 'change', resource, namespace: options.namespace, name, body: patch, options },
        (own) => client.patch(resource, name, patch, own),
      ),
    delete: (resource, name, options = {}) =>
      decided(
        {
          ...{ verb: 'delete', resource, namespace: options.namespace, name, options },
          body: undefined,
        },
        (own) => client.delete(resource, name, own),
      ),
  };
}

const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

/**
 * Returns a text that is equal for writes with the same effect on the same object. Versions and
 * times may differ, and so may the messages of a status, which describe what was observed. A
 * deletion of a version must be of the same one: its plan shows no content. Pure.
 */
export function effectOf({ verb, resource, namespace, name, body, options }: Write): string {
  const { group, plural } = resource;
  const version = verb === 'delete' ? options.resourceVersion : undefined;
  const varies = new Set(['resourceVersion']);
  if (options.subresource === 'status') varies.add('message');
  const text = JSON.stringify(
    [verb, group, plural, namespace, name, options.uid, version, body],
    (key, value: unknown) =>
      varies.has(key) || (typeof value === 'string' && TIME.test(value)) ? undefined : value,
  );
  return createHash('sha256').update(text).digest('hex');
}

/** Returns the error of a command that would do something else than its plan showed. */
export const notAsPlanned = (): StowageError =>
  new StowageError('conflict', 'This is not what the plan showed: nothing was done', {
    hint: 'Plan it again.',
  });

/**
 * Returns a connection whose first write must have this effect, else it rejects with a StowageError
 * `conflict`. Later writes follow from the first one.
 * @param effect undefined: the command writes nothing
 */
export function expectingWrite(connection: Connection, effect: string | undefined): Connection {
  let hasWritten = false;
  const client = withWrites(connection.client, async (write, send) => {
    if (!hasWritten && effectOf(write) !== effect) throw notAsPlanned();
    const answer = await send();
    hasWritten = true;
    return answer;
  });
  return { ...connection, client };
}
