import { StowageError } from '../../../api/errors.ts';
import type { KubeObject, Resource } from '../../../api/meta.ts';
import type { Connection } from '../../../kube/connect.ts';
import type { KubeClient, WriteOptions } from '../../../kube/types.ts';
import type { PlannedWrite } from '../../../ui/protocol.ts';
import { asYaml } from '../../lib/output/data.ts';
import { dataWithoutCredentials, publicLines, publicName } from '../public-text.ts';

/** Ends a command that would now write, or wait for others. */
class RehearsalEnd extends StowageError {
  override readonly name = 'RehearsalEnd';

  constructor() {
    super('conflict', 'the rehearsal ends here');
  }
}

/** Connection on which a command writes nothing. */
export interface Rehearsal {
  connection: Connection;
  /** Writes that the command began. */
  writes: PlannedWrite[];
  /** Reports whether the command reached a write, or a wait for others. */
  isOver(): boolean;
}

/**
 * Returns a connection that ends a command at its first write, which the API server only validates
 * (dry run), and at its first wait. Everything before is the command itself: its reads, refusals
 * and questions.
 */
export function rehearse({ client, transport, ...connection }: Connection): Rehearsal {
  const writes: PlannedWrite[] = [];
  let over = false;

  /** Sends a write as a dry run, unless the command has ended. */
  async function tried<T>(
    options: WriteOptions | undefined,
    send: (options: WriteOptions) => Promise<T>,
    write: PlannedWrite,
  ): Promise<T> {
    // The command's own dry runs store nothing.
    if (options?.dryRun) return send(options);
    if (!over) {
      await send({ ...options, dryRun: true });
      over = true;
      writes.push(write);
    }
    throw new RehearsalEnd();
  }

  const dry: KubeClient = {
    get: client.get.bind(client),
    list: client.list.bind(client),
    create: <T extends KubeObject>(resource: Resource, object: T, options?: WriteOptions) =>
      tried(options, (dryly) => client.create(resource, object, dryly), {
        verb: 'create',
        kind: publicName(resource.kind),
        name: nameIn(options?.namespace ?? object.metadata.namespace, object.metadata.name),
        manifest: publicLines(asYaml(dataWithoutCredentials(object))),
      }),
    patch: <T extends KubeObject>(
      resource: Resource,
      name: string,
      patch: object,
      options?: WriteOptions,
    ) =>
      tried<T>(options, (dryly) => client.patch(resource, name, patch, dryly), {
        verb: 'change',
        kind: publicName(resource.kind),
        name: nameIn(options?.namespace, name),
        manifest: publicLines(asYaml(dataWithoutCredentials(patch))),
      }),
    delete: (resource, name, options) =>
      tried<void>(options, (dryly) => client.delete(resource, name, { ...options, ...dryly }), {
        verb: 'delete',
        kind: publicName(resource.kind),
        name: nameIn(options?.namespace, name),
        manifest: '',
      }),
    // biome-ignore lint/correctness/useYield: the command ends before its first event
    async *watch() {
      over = true;
      throw new RehearsalEnd();
    },
  };
  return {
    connection: {
      ...connection,
      client: dry,
      transport: {
        server: transport.server,
        send: async (request) => {
          if (request.method !== 'GET') throw new RehearsalEnd();
          return transport.send(request);
        },
        // biome-ignore lint/correctness/useYield: the command ends before its first byte
        async *stream() {
          throw new RehearsalEnd();
        },
      },
    },
    writes,
    isOver: () => over,
  };
}

const nameIn = (namespace: string | undefined, name: string): string =>
  publicName(namespace === undefined ? name : `${namespace}/${name}`);
