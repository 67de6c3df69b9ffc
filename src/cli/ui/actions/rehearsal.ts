import { StowageError } from '../../../api/errors.ts';
import type { Connection } from '../../../kube/connect.ts';
import type { KubeClient } from '../../../kube/types.ts';
import type { PlannedWrite } from '../../../ui/protocol.ts';
import { asYaml } from '../../lib/output/data.ts';
import { dataWithoutCredentials, publicLines, publicName } from '../public-text.ts';
import { type Write, withWrites } from './writes.ts';

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
  /** Returns the write that the command reached; undefined if none. */
  write(): Write | undefined;
  /** Reports whether the command reached a write, or a wait for others. */
  isOver(): boolean;
}

/**
 * Returns a connection that ends a command at its first write, which the API server only validates
 * (dry run), and at its first wait. Everything before is the command itself: its reads, refusals
 * and questions.
 */
export function rehearse({ client, transport, ...connection }: Connection): Rehearsal {
  let reached: Write | undefined;
  let over = false;

  const dry: KubeClient = {
    ...withWrites(client, async (write, send) => {
      if (!over) {
        await send({ ...write.options, dryRun: true });
        over = true;
        reached = write;
      }
      throw new RehearsalEnd();
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
        serverTime: () => transport.serverTime(),
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
    write: () => reached,
    isOver: () => over,
  };
}

/** Returns a write for the page, as safe texts. Pure. */
export const plannedWrite = ({ verb, resource, namespace, name, body }: Write): PlannedWrite => ({
  verb,
  kind: publicName(resource.kind),
  name: publicName(namespace === undefined ? name : `${namespace}/${name}`),
  manifest: body === undefined ? '' : publicLines(asYaml(dataWithoutCredentials(body))),
});
