import { type Command, Option } from 'commander';
import type { CheckGrantFlags } from '../grants/check.ts';
import { connectFor, type GlobalFlags } from '../lib/globals.ts';
import type { Io } from '../lib/io.ts';
import { oneNamespacedName, oneNamespaceName } from '../lib/parse.ts';
import { GRANT_NAMES } from '../lib/resource-names.ts';

export default function checkGrant(check: Command, io: Io): void {
  const [plural, singular, ...more] = GRANT_NAMES;
  check
    .command(singular)
    .aliases([plural, ...more])
    .description(
      'say whether a namespace may use a snapshot, by which grant, or which grant nearly allows it',
    )
    .requiredOption('--from <namespace>', 'the namespace that is to use it', oneNamespaceName)
    .requiredOption('--snapshot <name>', 'the snapshot, as [NAMESPACE/]NAME', oneNamespacedName)
    .addOption(
      new Option('--for <what>', 'what is to use it there (default: either)').choices([
        'claims',
        'links',
      ]),
    )
    .addOption(new Option('-o, --output <format>', 'what to print').choices(['json', 'yaml']))
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<CheckGrantFlags & GlobalFlags>();
      const { checkGrant: run } = await import('../grants/check.ts');
      await run(flags, io, await connectFor(command, io));
    });
}
