import { type Command, InvalidArgumentError, Option } from 'commander';
import { isDnsSubdomain } from '../../api/dns-name.ts';
import { BUILTINS } from '../../api/populator.ts';
import { parseQuantity } from '../../api/quantity.ts';
import { connectFor } from '../lib/globals.ts';
import type { Io } from '../lib/io.ts';
import { addCreateOptions } from '../lib/objects/flags.ts';
import { directory, objectName, oneDirectory, oneObjectName, oneText } from '../lib/parse.ts';
import { POPULATOR_NAMES } from '../lib/resource-names.ts';
import type { RegisterFlags } from '../populators/flags.ts';
import type { Given } from '../populators/wizard.ts';

export default function registerPopulator(register: Command, io: Io): void {
  const [plural, singular, ...more] = POPULATOR_NAMES;
  const command = register
    .command(singular)
    .aliases([plural, ...more])
    .description(
      'have volumes filled from objects of a kind: by a pod, where fields stand as {.spec.field}, or on the node. What is missing is asked for on a terminal.',
    )
    .argument('[name]', 'under which it is registered', objectName)
    .option('--group <group>', 'API group of the kind, without a version', oneObjectName)
    .option('--kind <kind>', 'the kind, such as Hello', oneText)
    .option('--image <image>', 'image of the container that fills a volume', oneText)
    .addOption(
      new Option(
        '--node <builtin>',
        'fill volumes on their node, without a pod, from its kind',
      ).choices(BUILTINS),
    )
    .option('--command <word>', 'its entry point, a word each time; no fields', several)
    .option(
      '--arg <text>',
      'its arguments, one each time, such as --arg=--file={.spec.fileName}',
      several,
    )
    .option('--env <name=value>', 'its environment', variables)
    .option(
      '--secret-env <name=secret/key>',
      "the same from a Secret of the daemon's namespace",
      secretVariables,
    )
    .option(
      '--secret <name:path>',
      "Secret of the daemon's namespace as a folder of files",
      secrets,
    )
    .option(
      '--service-account <name>',
      "of the daemon's namespace (default: the pod has no token)",
      oneObjectName,
    )
    .option('--request <name=quantity>', 'what it is promised, such as memory=64Mi', quantities)
    .option('--limit <name=quantity>', 'what it gets at most', quantities)
    .option('--mount-path <path>', 'where a file system that it fills is', oneDirectory)
    .option('--device-path <path>', 'where a Block volume that it fills is', oneDirectory)
    .option(
      '--api-version <version>',
      'version of the kind (default: as the API server prefers)',
      oneText,
    )
    .option(
      '--resource <plural>',
      'as in paths of requests (default: as the API server says)',
      oneText,
    )
    .option('--cluster-scoped', 'objects of the kind are in no namespace');
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
  if (!isDnsSubdomain(text))
    throw new InvalidArgumentError('A Secret has a name as other objects.');
  return text;
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
