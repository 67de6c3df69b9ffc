import { type Command, InvalidArgumentError, Option } from 'commander';
import { isDnsSubdomain } from '../../api/dns-name.ts';
import { BUILTINS, CAPABILITIES, type Capability } from '../../api/populator.ts';
import { parseQuantity } from '../../api/quantity.ts';
import { addExamples } from '../lib/examples.ts';
import { connectFor } from '../lib/globals.ts';
import type { Io } from '../lib/io.ts';
import { addCreateOptions } from '../lib/objects/flags.ts';
import {
  directory,
  labels,
  objectName,
  oneDirectory,
  oneObjectName,
  oneText,
  wholeNumber,
} from '../lib/parse.ts';
import { POPULATOR_NAMES } from '../lib/resource-names.ts';
import type { RegisterFlags } from '../populators/flags.ts';
import type { Given } from '../populators/wizard.ts';

export default function registerPopulator(register: Command, io: Io): void {
  const [plural, singular, ...more] = POPULATOR_NAMES;
  const command = register
    .command(singular)
    .aliases([plural, ...more])
    .description(
      'register a populator, which fills volumes from objects of a kind: in a pod, or on the node. Prompts for missing values on a terminal.',
    )
    .argument('[name]', 'name of the populator', objectName)
    .option('--group <group>', 'API group of the kind, without a version', oneObjectName)
    .option('--kind <kind>', 'kind of the objects, such as Hello', oneText)
    .option('--image <image>', 'image of the container that fills a volume', oneText)
    .addOption(
      new Option(
        '--node <builtin>',
        'built-in populator, which fills volumes on their node, without a pod',
      ).choices(BUILTINS),
    )
    .option(
      '--command <word>',
      'entry point of the container, repeated for each word; fields are not replaced',
      several,
    )
    .option(
      '--arg <text>',
      'argument of the container, repeatable; fields are replaced, as in --arg=--file={.spec.fileName}',
      several,
    )
    .option(
      '--env <name=value>',
      'environment variable of the container, repeatable; fields are replaced in the value',
      variables,
    )
    .option(
      '--secret-env <name=secret/key>',
      "environment variable from a Secret of the daemon's namespace, repeatable",
      secretVariables,
    )
    .option(
      '--secret <name:path>',
      "Secret of the daemon's namespace to mount as a directory, repeatable",
      secrets,
    )
    .option(
      '--service-account <name>',
      "ServiceAccount of the daemon's namespace (default: none, and no token)",
      oneObjectName,
    )
    .option(
      '--request <name=quantity>',
      'resource request of the container, such as memory=64Mi, repeatable',
      quantities,
    )
    .option(
      '--limit <name=quantity>',
      'resource limit of the container, such as memory=64Mi, repeatable',
      quantities,
    )
    .option(
      '--toleration <key[=value][:effect]>',
      'toleration of the pod, besides those of the pods that wait for the claim, repeatable',
      tolerations,
    )
    .option('--node-selector <key=value,...>', 'labels of the nodes that may run the pod', labels)
    .option(
      '--run-as-user <id>',
      "user ID of the pod; 0 is root, which devices of mode Block usually need (default: the daemon's, or 65532)",
      wholeNumber(0, 2_147_483_647),
    )
    .option(
      '--capability <name>',
      'capability of the container, such as CHOWN, repeatable (default: none)',
      capabilities,
    )
    .option('--mount-path <path>', 'mount path of a file system to fill', oneDirectory)
    .option('--device-path <path>', 'device path of a Block volume to fill', oneDirectory)
    .option(
      '--api-version <version>',
      'version of the kind (default: the one that the API server prefers)',
      oneText,
    )
    .option(
      '--resource <plural>',
      'plural of the kind, as in API paths (default: from the API server)',
      oneText,
    )
    .option('--cluster-scoped', 'the kind is cluster-scoped');
  addCreateOptions(command).action(async (name: string | undefined, _flags, command: Command) => {
    const {
      secretEnv = [],
      env = [],
      ...flags
    } = command.optsWithGlobals<Given & { secretEnv?: RegisterFlags['env'] }>();
    const variables = [...env, ...secretEnv];
    const { register: run } = await import('../populators/register.ts');
    const given = { ...flags, name, ...(variables.length > 0 && { env: variables }) };
    await run(given, command, io, () => connectFor(command, io));
  });
  addExamples(command, [
    '# A pod, which gets a field of the data source as an argument',
    'stowage register populator hello --group hello.example.com --kind Hello --image registry.example.com/hello:v1 --arg=--file=/mnt/{.spec.fileName} --mount-path /mnt',
    '# The built-in populator of Images',
    'stowage register populator image --node Image',
  ]);
}

const several = (text: string, before: string[] = []): string[] => [...before, text];

/** Splits a text at the first occurrence of a sign. Throws if a part is empty. */
function split(text: string, sign: string, how: string): [string, string] {
  const at = text.indexOf(sign);
  if (at < 1 || at === text.length - 1) throw new InvalidArgumentError(`Write ${how}.`);
  return [text.slice(0, at), text.slice(at + 1)];
}

type Env = NonNullable<RegisterFlags['env']>;

function variables(text: string, before: Env = []): Env {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('Write NAME=VALUE.');
  return [...before, { name: text.slice(0, at), value: text.slice(at + 1) }];
}

function secretVariables(text: string, before: Env = []): Env {
  const how = 'NAME=SECRET/KEY';
  const [name, from] = split(text, '=', how);
  const [secret, key] = split(from, '/', how);
  return [...before, { name, secret: { name: secretName(secret), key } }];
}

function secrets(
  text: string,
  before: NonNullable<RegisterFlags['secret']> = [],
): NonNullable<RegisterFlags['secret']> {
  const [name, path] = split(text, ':', 'SECRET:PATH');
  return [...before, { name: secretName(name), mountPath: directory(path) }];
}

function secretName(text: string): string {
  if (!isDnsSubdomain(text)) throw new InvalidArgumentError('Write the name of a Secret.');
  return text;
}

const TOLERATION =
  /^(?<key>[^=:]+)(?<equals>=(?<value>[^:]*))?(?::(?<effect>NoSchedule|PreferNoSchedule|NoExecute))?$/;

/** Parses a toleration as kubectl writes taints; without a value, it tolerates any. */
function tolerations(
  text: string,
  before: NonNullable<RegisterFlags['toleration']> = [],
): NonNullable<RegisterFlags['toleration']> {
  const { key, equals, value = '', effect } = TOLERATION.exec(text)?.groups ?? {};
  if (key === undefined) {
    throw new InvalidArgumentError(
      'Write KEY=VALUE:EFFECT or KEY:EFFECT, with the effect NoSchedule, PreferNoSchedule or NoExecute, or none.',
    );
  }
  const match = equals === undefined ? { operator: 'Exists' } : { operator: 'Equal', value };
  return [...before, { key, ...match, ...(effect !== undefined && { effect }) }];
}

function capabilities(text: string, before: Capability[] = []): Capability[] {
  const found = CAPABILITIES.find((each) => each === text);
  if (found === undefined)
    throw new InvalidArgumentError(`Write one of ${CAPABILITIES.join(', ')}.`);
  return [...before, found];
}

function quantities(text: string, before: Record<string, string> = {}): Record<string, string> {
  const [name, quantity] = split(text, '=', 'NAME=QUANTITY, such as memory=64Mi');
  try {
    parseQuantity(quantity);
  } catch {
    throw new InvalidArgumentError('Write NAME=QUANTITY, such as memory=64Mi.');
  }
  return { ...before, [name]: quantity };
}
