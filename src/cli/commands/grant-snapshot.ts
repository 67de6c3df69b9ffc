import { type Command, InvalidArgumentError, Option } from 'commander';
import { connectFor, type GlobalFlags } from '../globals.ts';
import type { GrantFlags } from '../grants/grant.ts';
import type { Io } from '../io.ts';
import { SNAPSHOT_NOUNS } from '../nouns.ts';
import { addCreateOptions } from '../objects/flags.ts';
import { namespacedName, namespaceName, oneNamespaceName } from '../parse.ts';

export default function grantSnapshot(grant: Command, io: Io): void {
  const [plural, singular, ...more] = SNAPSHOT_NOUNS;
  const command = grant
    .command(singular)
    .aliases([plural, ...more])
    .description('let another namespace use a snapshot (by a ReferenceGrant, which revoke grant takes back)')
    .usage("[options] [NAMESPACE/]NAME | [NAMESPACE/]'*' --to NAMESPACE")
    .argument('<name>', "the snapshot; '*' is all of the namespace", snapshots)
    .requiredOption('--to <namespace>', 'the namespace that may use it', oneNamespaceName)
    .addOption(
      new Option('--for <what>', 'what may use it there (default: both)').choices(['claims', 'links']),
    );
  addCreateOptions(command).action(async (name: ReturnType<typeof snapshots>, _flags, command: Command) => {
    const flags = command.optsWithGlobals<GrantFlags & GlobalFlags>();
    const { grant: run } = await import('../grants/grant.ts');
    await run(name, flags, io, () => connectFor(command, io));
  });
}

/** A snapshot, or all of a namespace. */
function snapshots(text: string): { namespace?: string; name: string | undefined } {
  const [, namespace, all] = /^(?:([^/]*)\/)?(\*)$/.exec(text) ?? [];
  if (all === undefined) {
    if (text.includes('*'))
      throw new InvalidArgumentError("'*' stands for all snapshots, and not for a part of a name.");
    return namespacedName(text);
  }
  return { ...(namespace === undefined ? {} : { namespace: namespaceName(namespace) }), name: undefined };
}
