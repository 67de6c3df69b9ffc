import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Snapshots } from '../grants/flags.ts';
import type { Given } from '../grants/wizard.ts';
import { connectFor } from '../lib/globals.ts';
import type { Io } from '../lib/io.ts';
import { addCreateOptions } from '../lib/objects/flags.ts';
import { namespacedName, namespaceName, oneNamespaceName } from '../lib/parse.ts';
import { SNAPSHOT_NAMES } from '../lib/resource-names.ts';

export default function grantSnapshot(grant: Command, io: Io): void {
  const [plural, singular, ...more] = SNAPSHOT_NAMES;
  const command = grant
    .command(singular)
    .aliases([plural, ...more])
    .description(
      'let another namespace use a snapshot (by a ReferenceGrant, which revoke grant takes back). What is missing is asked for on a terminal.',
    )
    .usage("[options] [NAMESPACE/]NAME | [NAMESPACE/]'*' --to NAMESPACE")
    .argument('[name]', "the snapshot; '*' is all of the namespace", snapshots)
    .option('--to <namespace>', 'the namespace that may use it', oneNamespaceName)
    .addOption(
      new Option('--for <what>', 'what may use it there (default: both)').choices([
        'claims',
        'links',
      ]),
    );
  addCreateOptions(command).action(
    async (name: Snapshots | undefined, _flags, command: Command) => {
      const flags = { ...command.optsWithGlobals<Given>(), name };
      const { grant: run } = await import('../grants/grant.ts');
      await run(flags, command, io, () => connectFor(command, io));
    },
  );
}

/** Parses the name of a snapshot, or `*` for all snapshots of a namespace. */
function snapshots(text: string): Snapshots {
  const [, namespace, all] = /^(?:([^/]*)\/)?(\*)$/.exec(text) ?? [];
  if (all === undefined) {
    if (text.includes('*'))
      throw new InvalidArgumentError("'*' stands for all snapshots, and not for a part of a name.");
    return namespacedName(text);
  }
  return {
    ...(namespace === undefined ? {} : { namespace: namespaceName(namespace) }),
    name: undefined,
  };
}
