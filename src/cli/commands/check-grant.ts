import { type Command, Option } from 'commander';
import type { CheckGrantFlags } from '../grants/check.ts';
import { addExamples } from '../lib/examples.ts';
import { connectFor, type GlobalFlags } from '../lib/globals.ts';
import type { Io } from '../lib/io.ts';
import { oneNamespacedName, oneNamespaceName } from '../lib/parse.ts';
import { GRANT_NAMES } from '../lib/resource-names.ts';

export default function checkGrant(check: Command, io: Io): void {
  const [plural, singular, ...more] = GRANT_NAMES;
  const command = check
    .command(singular)
    .aliases([plural, ...more])
    .description(
      'check whether a namespace may use a snapshot, and show the grant that allows it, or those that nearly do',
    )
    .requiredOption('--from <namespace>', 'namespace that uses the snapshot', oneNamespaceName)
    .requiredOption('--snapshot <name>', 'VolumeSnapshot, as [NAMESPACE/]NAME', oneNamespacedName)
    .addOption(
      new Option('--for <what>', 'kind of object that uses it (default: either)').choices([
        'claims',
        'links',
      ]),
    )
    .addOption(new Option('-o, --output <format>', 'output format').choices(['json', 'yaml']))
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<CheckGrantFlags & GlobalFlags>();
      const { checkGrant: run } = await import('../grants/check.ts');
      await run(flags, io, await connectFor(command, io));
    });
  addExamples(command, ['stowage check grant --from test --snapshot prod/foo-backup']);
}
