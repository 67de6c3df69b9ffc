import type { KubeObject } from '../../api/meta.ts';
import { SNAPSHOT_GROUP, STOWAGE_GROUP, VOLUME_GROUP } from '../../api/names.ts';
import { kindText, type SourceKind } from '../../api/populator.ts';
import { VOLUME_POPULATORS } from '../../api/resources.ts';
import { listAll } from '../../kube/client.ts';
import type { Connection } from '../../kube/connect.ts';
import type { GlobalFlags } from '../globals.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '../install/kinds.ts';
import type { Io } from '../io.ts';
import { asYaml } from '../output/data.ts';
import { oneDirectory, oneObjectName } from '../parse.ts';
import type { Prompts } from '../prompts/prompts.ts';
import { foundIn, reading } from '../volume/read-result.ts';
import { lackingOf, nameProblem, orNone, problemBy, toAsk } from '../wizard/missing.ts';
import { agree, summarise } from '../wizard/review-plan.ts';
import { sameCommand } from '../wizard/same-command.ts';
import type { RegisterFlags } from './register.ts';

/** What is not said yet. */
export type Asked = RegisterFlags;

/** Groups of kinds that volumes are not filled from. */
const OTHERS = [
  STOWAGE_GROUP,
  VOLUME_GROUP,
  SNAPSHOT_GROUP,
  VOLUME_POPULATORS.group,
  'gateway.networking.k8s.io',
];
const OTHER = '';

/** Asks for what is missing, where somebody can be asked. Throws a StowageError `usage` that names it where not. */
export async function complete<F extends Asked>(
  name: string | undefined,
  flags: F,
  io: Io,
  connect: () => Promise<Connection>,
): Promise<{ name: string; flags: F; asked: boolean }> {
  const { group, kind, image, node } = flags;
  if (node !== undefined) {
    // What fills volumes on their node has a kind of its own.
    if (!toAsk(lackingOf({ NAME: name }), io) && name !== undefined)
      return { name, flags, asked: false };
    return { name: await askName(await io.prompts()), flags, asked: true };
  }
  const lacking = lackingOf({ NAME: name, '--group': group, '--kind': kind, '--image': image });
  if (
    !toAsk(lacking, io) &&
    name !== undefined &&
    group !== undefined &&
    kind !== undefined &&
    image !== undefined
  ) {
    return { name, flags: { ...flags, group, kind, image }, asked: false };
  }
  const prompts = await io.prompts();
  const source =
    group !== undefined && kind !== undefined
      ? { group, kind }
      : await askKind(flags, prompts, connect, io);
  const under = name ?? (await askName(prompts));
  const asked = {
    ...flags,
    ...source,
    image: image ?? (await prompts.input('Image of the container that fills a volume:', someText)),
  };
  if (asked.command === undefined && asked.arg === undefined) await askArguments(asked, prompts);
  if (asked.mountPath === undefined && asked.devicePath === undefined)
    await askPlace(asked, prompts);
  return { name: under, flags: asked, asked: true };
}

const askName = (prompts: Prompts): Promise<string> =>
  prompts.input('Name to register it under:', nameProblem);

const someText = (answer: string) => (answer === '' ? 'It is needed' : undefined);

/** Of the kinds that the cluster has by definitions of its own. */
async function askKind(
  { group, kind }: Asked,
  prompts: Prompts,
  connect: () => Promise<Connection>,
  { signal }: Io,
): Promise<SourceKind> {
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
  if (kinds.length > 0) {
    const answer = await prompts.select('Kind that claims name:', [
      ...kinds.map((each, index) => ({ name: kindText(each), value: String(index) })),
      { name: 'another one', value: OTHER },
    ]);
    const chosen = answer === OTHER ? undefined : kinds[Number(answer)];
    if (chosen !== undefined) return chosen;
  }
  return {
    group:
      group ??
      (await prompts.input(
        'API group of the kind, without a version:',
        problemBy((text) => oneObjectName(text)),
      )),
    kind: kind ?? (await prompts.input('Kind, such as Hello:', someText)),
  };
}

async function askArguments(flags: Asked, prompts: Prompts): Promise<void> {
  const args: string[] = [];
  for (;;) {
    const question =
      args.length === 0
        ? 'Argument, such as --file={.spec.fileName} (empty: none):'
        : 'Next argument (empty: no more):';
    const answer = await prompts.input(question, () => undefined);
    if (answer === '') break;
    args.push(answer);
  }
  if (args.length > 0) flags.arg = args;
}

async function askPlace(flags: Asked, prompts: Prompts): Promise<void> {
  const path = problemBy((text) => oneDirectory(text));
  const mount = await prompts.input(
    'Where it finds a file system to fill, such as /mnt (empty: it fills none):',
    orNone(path),
  );
  if (mount !== '') flags.mountPath = mount;
  const optional = mount === '' ? '' : ' (empty: it fills none)';
  const device = await prompts.input(
    `Where it finds a Block volume, such as /dev/block${optional}:`,
    mount === '' ? path : orNone(path),
  );
  if (device !== '') flags.devicePath = device;
}

/** Shows what is about to be created or changed, and goes on only with a yes. Throws a StowageError `conflict` otherwise. */
export async function agreeToRegister(
  name: string,
  objects: readonly KubeObject[],
  flags: RegisterFlags & GlobalFlags,
  io: Io,
): Promise<void> {
  const text = objects.map((object) => asYaml(object)).join('---\n');
  const command = sameCommand(['register', 'populator', name], optionsOf(flags), flags);
  summarise({ sections: [['What is made, or brought to this', text]], command }, io);
  await agree('Register it?', io);
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
  '--mount-path': flags.mountPath,
  '--device-path': flags.devicePath,
  '--api-version': flags.apiVersion,
  '--resource': flags.resource,
  '--cluster-scoped': flags.clusterScoped,
});

const pairs = (quantities: Record<string, string> = {}): string[] =>
  Object.entries(quantities).map(([name, quantity]) => `${name}=${quantity}`);
