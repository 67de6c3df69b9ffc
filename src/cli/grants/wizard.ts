import type { ReferenceGrant } from '../../api/snapshot.ts';
import type { Connection } from '../../kube/connect.ts';
import type { GlobalFlags } from '../lib/globals.ts';
import type { Io } from '../lib/io.ts';
import { asYaml } from '../lib/output/data.ts';
import { type Asking, complete as completeBy, type Question } from '../lib/wizard/ask.ts';
import { namespaceChoices } from '../lib/wizard/namespaces.ts';
import { sameCommand } from '../lib/wizard/same-command.ts';
import { SNAPSHOT, snapshotChoices } from '../lib/wizard/snapshots.ts';
import { confirmSummary, showSummary } from '../lib/wizard/summary.ts';
import type { GrantFlags, Snapshots } from './flags.ts';

export type Given = Omit<GrantFlags, 'to'> &
  GlobalFlags & { name?: Snapshots | undefined; to?: string };

const QUESTIONS: readonly Question<Given, Connection>[] = [
  {
    of: 'name',
    needed: true,
    ...SNAPSHOT,
    choices: (_, connection, io) => snapshotChoices({ all: true }, connection, io),
  },
  {
    of: 'to',
    message: 'Namespace that may use it:',
    needed: true,
    choices: ({ name }, { client, namespace }, io) =>
      namespaceChoices({ except: name?.namespace ?? namespace }, client, io),
  },
  {
    of: 'for',
    message: 'What may use it there:',
    none: true,
    names: {
      '': 'claims, and links to snapshots',
      claims: 'claims only',
      links: 'links only',
    },
  },
];

/** Prompts for missing values on a terminal, else throws a StowageError `usage` that names them. */
export const complete = (given: Given, asking: Asking<Given, Connection>) =>
  completeBy<Given, 'name' | 'to', Connection>(QUESTIONS, given, asking);

/** Shows the grant and requests confirmation. Throws a StowageError `conflict` if it is refused. */
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
  showSummary(
    {
      sections: [
        [
          'What is granted',
          `${what} may be used in namespace ${flags.to}, by all users who may create claims there.`,
        ],
        ['Manifest', asYaml(wanted)],
      ],
      command: sameCommand(
        ['grant', 'snapshot', `${namespace}/${name ?? '*'}`],
        { '--to': flags.to, '--for': flags.for },
        flags,
      ),
    },
    io,
  );
  await confirmSummary('Grant it?', io);
}
