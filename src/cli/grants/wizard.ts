import type { ReferenceGrant } from '../../api/snapshot.ts';
import type { Connection } from '../../kube/connect.ts';
import type { GlobalFlags } from '../globals.ts';
import type { Io } from '../io.ts';
import { asYaml } from '../output/data.ts';
import { lackingOf, toAsk } from '../wizard/missing.ts';
import { askNamespace } from '../wizard/namespaces.ts';
import { agree, summarise } from '../wizard/review-plan.ts';
import { sameCommand } from '../wizard/same-command.ts';
import { askSnapshot } from '../wizard/snapshots.ts';
import type { GrantFlags, Snapshots } from './grant.ts';
import { GRANTED_TO, type GrantedTo } from './kinds.ts';

/** In place of one of GRANTED_TO. */
const BOTH = '';

/** Asks for what is missing, where somebody can be asked. Throws a StowageError `usage` that names it where not. */
export async function complete<F extends Partial<GrantFlags>>(
  given: Snapshots | undefined,
  flags: F,
  io: Io,
  connect: () => Promise<Connection>,
): Promise<{ snapshot: Snapshots; flags: F & { to: string }; asked: boolean }> {
  const { to } = flags;
  if (
    !toAsk(lackingOf({ NAME: given, '--to': to }), io) &&
    given !== undefined &&
    to !== undefined
  ) {
    return { snapshot: given, flags: { ...flags, to }, asked: false };
  }
  const prompts = await io.prompts();
  const connection = await connect();
  const snapshot = given ?? (await askSnapshot({ all: true }, prompts, connection, io));
  const except = snapshot.namespace ?? connection.namespace;
  const asked = {
    ...flags,
    to:
      to ??
      (await askNamespace(
        'Namespace that may use it:',
        { except },
        prompts,
        connection.client,
        io,
      )),
  };
  if (flags.for === undefined) {
    const answer = await prompts.select('What may use it there:', [
      { name: 'claims, and links to snapshots', value: BOTH },
      ...GRANTED_TO.map((what) => ({ name: `${what} only`, value: what })),
    ]);
    if (answer !== BOTH) asked.for = answer as GrantedTo;
  }
  return { snapshot, flags: asked, asked: true };
}

/** Shows what is about to be granted, and goes on only with a yes. Throws a StowageError `conflict` otherwise. */
export async function agreeToGrant(
  wanted: ReferenceGrant,
  { namespace, name }: { namespace: string; name: string | undefined },
  flags: GrantFlags & GlobalFlags,
  io: Io,
): Promise<void> {
  const what =
    name === undefined
      ? `All VolumeSnapshots of ${namespace}`
      : `VolumeSnapshot ${namespace}/${name}`;
  summarise(
    {
      sections: [
        [
          'What is granted',
          `${what} may be used in namespace ${flags.to}, whoever may create claims there.`,
        ],
        ['By', asYaml(wanted)],
      ],
      command: sameCommand(
        ['grant', 'snapshot', `${namespace}/${name ?? '*'}`],
        { '--to': flags.to, '--for': flags.for },
        flags,
      ),
    },
    io,
  );
  await agree('Grant it?', io);
}
