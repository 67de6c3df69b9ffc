import { type Command, Option } from 'commander';
import type { RevokeFlags } from '../grants/revoke.ts';
import { connectFor, type GlobalFlags } from '../lib/globals.ts';
import type { Io } from '../lib/io.ts';
import { type NamespacedName, namespacedName } from '../lib/parse.ts';
import { GRANT_NAMES } from '../lib/resource-names.ts';

export default function revokeGrant(revoke: Command, io: Io): void {
  const [plural, singular, ...more] = GRANT_NAMES;
  revoke
    .command(singular)
    .aliases([plural, ...more])
    .description('take a grant back; volumes that were made under it stay')
    .argument('<name>', 'the ReferenceGrant, as [NAMESPACE/]NAME', namespacedName)
    .addOption(
      new Option('--dry-run <mode>', 'revoke nothing: let the server check')
        .choices(['none', 'server'])
        .default('none'),
    )
    .addOption(
      new Option('-o, --output <format>', 'what to print').choices(['json', 'yaml', 'name']),
    )
    .action(async (name: NamespacedName, _flags, command: Command) => {
      const flags = command.optsWithGlobals<RevokeFlags & GlobalFlags>();
      const { revoke: run } = await import('../grants/revoke.ts');
      await run(name, flags, io, await connectFor(command, io));
    });
}
