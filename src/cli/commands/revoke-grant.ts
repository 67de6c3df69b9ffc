import { type Command, Option } from 'commander';
import type { RevokeFlags } from '../grants/revoke.ts';
import { addExamples } from '../lib/examples.ts';
import { connectFor, type GlobalFlags } from '../lib/globals.ts';
import type { Io } from '../lib/io.ts';
import { type NamespacedName, namespacedName } from '../lib/parse.ts';
import { GRANT_NAMES } from '../lib/resource-names.ts';

export default function revokeGrant(revoke: Command, io: Io): void {
  const [plural, singular, ...more] = GRANT_NAMES;
  const command = revoke
    .command(singular)
    .aliases([plural, ...more])
    .description(
      'revoke a grant: delete a ReferenceGrant for snapshots. Volumes created under it stay.',
    )
    .argument('<name>', 'ReferenceGrant, as [NAMESPACE/]NAME', namespacedName)
    .addOption(
      new Option('--dry-run <mode>', 'revoke nothing: server validates the request')
        .choices(['none', 'server'])
        .default('none'),
    )
    .addOption(
      new Option('-o, --output <format>', 'output format').choices(['json', 'yaml', 'name']),
    )
    .action(async (name: NamespacedName, _flags, command: Command) => {
      const flags = command.optsWithGlobals<RevokeFlags & GlobalFlags>();
      const { revoke: run } = await import('../grants/revoke.ts');
      await run(name, flags, io, await connectFor(command, io));
    });
  addExamples(command, [
    '# A name from: stowage get grants -n prod',
    'stowage revoke grant prod/foo-backup-to-test-f5e3ad49',
  ]);
}
