import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Snapshots } from '../grants/flags.ts';
import type { Given } from '../grants/wizard.ts';
import { addExamples } from '../lib/examples.ts';
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
      'allow another namespace to use a snapshot, with a ReferenceGrant, which stowage revoke grant deletes. Prompts for missing values on a terminal.',
    )
    .usage("[options] [NAMESPACE/]NAME | [NAMESPACE/]'*' --to NAMESPACE")
    .argument(
      '[name]',
      "VolumeSnapshot, as [NAMESPACE/]NAME; '*' stands for all of the namespace",
      snapshots,
    )
    .option('--to <namespace>', 'namespace that may use the snapshot', oneNamespaceName)
    .addOption(
      new Option('--for <what>', 'kind of object that may use it (default: both)').choices([
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
  addExamples(command, [
    'stowage grant snapshot prod/foo-backup --to test',
    '# All snapshots of the namespace, for claims only',
    "stowage grant snapshot 'prod/*' --to test --for claims",
  ]);
}

/** Parses the name of a snapshot, or `*` for all snapshots of a namespace. */
function snapshots(text: string): Snapshots {
  const [, namespace, all] = /^(?:([^/]*)\/)?(\*)$/.exec(text) ?? [];
  if (all === undefined) {
    if (text.includes('*'))
      throw new InvalidArgumentError("'*' stands for all snapshots, not for part of a name.");
    return namespacedName(text);
  }
  return {
    ...(namespace === undefined ? {} : { namespace: namespaceName(namespace) }),
    name: undefined,
  };
}
