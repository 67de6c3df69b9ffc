import type { Command } from 'commander';
import type { Toleration } from '../../api/core.ts';
import type { KubeObject } from '../../api/meta.ts';
import { SNAPSHOT_GROUP, STOWAGE_GROUP, VOLUME_GROUP } from '../../api/names.ts';
import { kindText, type SourceKind } from '../../api/populator.ts';
import { CUSTOM_RESOURCE_DEFINITIONS, VOLUME_POPULATORS } from '../../api/resources.ts';
import { listAll } from '../../kube/client.ts';
import type { Connection } from '../../kube/connect.ts';
import type { GlobalFlags } from '../lib/globals.ts';
import type { Io } from '../lib/io.ts';
import { asYaml } from '../lib/output/data.ts';
import type { Choice } from '../lib/prompts/prompts.ts';
import { foundIn, reading } from '../lib/read-result.ts';
import { complete as completeBy, orOther, type Question } from '../lib/wizard/ask.ts';
import { sameCommand } from '../lib/wizard/same-command.ts';
import { confirmSummary, showSummary } from '../lib/wizard/summary.ts';
import type { RegisterFlags } from './flags.ts';

/** Flags and arguments of the command line. `source` is the question for both group and kind. */
export type Given = RegisterFlags & GlobalFlags & { name?: string | undefined; source?: never };
type Connect = () => Promise<Connection>;

/** API groups whose kinds are no data sources. */
const OTHERS = [
  STOWAGE_GROUP,
  VOLUME_GROUP,
  SNAPSHOT_GROUP,
  VOLUME_POPULATORS.group,
  'gateway.networking.k8s.io',
];

const NAME = { of: 'name', message: 'Name to register it under:', needed: true } as const;

const QUESTIONS: readonly Question<Given, Connect>[] = [
  {
    of: 'source',
    message: 'Kind that claims name:',
    when: ({ group, kind }) => group === undefined || kind === undefined,
    none: true,
    choices: kindChoices,
    take: (text) => {
      const [group = '', kind = ''] = text.split('/');
      return { group, kind };
    },
  },
  { of: 'group', message: 'API group of the kind, without a version:', needed: true },
  { of: 'kind', message: 'Kind, such as Hello:', needed: true },
  NAME,
  { of: 'image', message: 'Image of the container that fills a volume:', needed: true },
  {
    of: 'arg',
    message: 'Argument, such as --file={.spec.fileName} (empty: none):',
    when: ({ command }) => command === undefined,
    none: true,
    again: 'Next argument (empty: no more):',
  },
  {
    of: 'mountPath',
    message: 'Mount path of a file system to fill, such as /mnt (empty: it fills none):',
    when: ({ devicePath }) => devicePath === undefined,
    none: true,
  },
  {
    of: 'devicePath',
    message: ({ mountPath }) =>
      `Device path of a Block volume to fill, such as /dev/block${mountPath ? ' (empty: it fills none)' : ''}:`,
    when: (_, { mountPath }) => mountPath === undefined,
    none: ({ mountPath }) => mountPath !== undefined,
  },
];

/** Prompts for missing values on a terminal, else throws a StowageError `usage` that names them. */
export const complete = (given: Given, command: Command, io: Io, connect: Connect) =>
  completeBy<Given, 'name', Connect>(
    // A built-in implies its kind.
    given.node === undefined ? QUESTIONS : [NAME],
    given,
    { command, io, live: () => connect },
  );

/** Returns the kinds that CRDs of the cluster define. */
async function kindChoices(
  { group, kind }: Given,
  connect: Connect,
  { signal }: Io,
): Promise<readonly Choice[]> {
  const read = await reading(
    listAll<KubeObject & { spec: { group: string; names: { kind: string } } }>(
      (await connect()).client,
      CUSTOM_RESOURCE_DEFINITIONS,
      { signal },
    ),
  );
  const kinds = (foundIn(read)?.items ?? [])
    .map(({ spec }): SourceKind => ({ group: spec.group, kind: spec.names.kind }))
    .filter((each) => !OTHERS.includes(each.group))
    .filter(
      (each) => [each.group, undefined].includes(group) && [each.kind, undefined].includes(kind),
    );
  return orOther(
    kinds.map((each) => ({ name: kindText(each), value: `${each.group}/${each.kind}` })),
  );
}

/** Requests confirmation of the objects. Throws a StowageError `conflict` if it is refused. */
export async function agreeToRegister(
  name: string,
  objects: readonly KubeObject[],
  flags: RegisterFlags & GlobalFlags,
  io: Io,
): Promise<void> {
  const text = objects.map((object) => asYaml(object)).join('---\n');
  const command = sameCommand(['register', 'populator', name], optionsOf(flags), flags);
  showSummary({ sections: [['Objects to create or update', text]], command }, io);
  await confirmSummary('Register it?', io);
}

const optionsOf = ({ env = [], ...flags }: RegisterFlags) => ({
  '--group': flags.group,
  '--kind': flags.kind,
  '--image': flags.image,
  '--node': flags.node,
  '--command': flags.command,
  '--arg': flags.arg,
  '--env': env.flatMap((each) =>
    'value' in each && each.value !== undefined ? [`${each.name}=${each.value}`] : [],
  ),
  '--secret-env': env.flatMap((each) =>
    'secret' in each && each.secret !== undefined
      ? [`${each.name}=${each.secret.name}/${each.secret.key}`]
      : [],
  ),
  '--secret': flags.secret?.map(({ name, mountPath }) => `${name}:${mountPath}`),
  '--service-account': flags.serviceAccount,
  '--request': pairs(flags.request),
  '--limit': pairs(flags.limit),
  '--toleration': flags.toleration?.map(tolerationText),
  '--node-selector': pairs(flags.nodeSelector),
  '--run-as-user': flags.runAsUser === undefined ? undefined : String(flags.runAsUser),
  '--capability': flags.capability,
  '--mount-path': flags.mountPath,
  '--device-path': flags.devicePath,
  '--api-version': flags.apiVersion,
  '--resource': flags.resource,
  '--cluster-scoped': flags.clusterScoped,
});

const pairs = (quantities: Record<string, string> = {}): string[] =>
  Object.entries(quantities).map(([name, quantity]) => `${name}=${quantity}`);

/** Formats a toleration as the flag takes it. */
const tolerationText = ({ key, operator, value, effect }: Toleration): string =>
  `${key}${operator === 'Exists' ? '' : `=${value}`}${effect === undefined ? '' : `:${effect}`}`;
