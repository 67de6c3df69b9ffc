import { type Command, Option } from 'commander';
import { StowageError } from '../../api/errors.ts';
import { connectFor, type GlobalFlags } from '../lib/globals.ts';
import type { Io } from '../lib/io.ts';
import { parseTarget } from '../lib/target.ts';
import type { WhyFlags } from '../why/types.ts';

export default function why(program: Command, io: Io): void {
  program
    .command('why')
    .description(
      'say what holds a Volume, a claim, a snapshot, a node, or the volumes of a pod up, since when, when it is tried next, and what fixes it',
    )
    .usage('[options] volume|node NAME | pod|pvc|snapshot [NAMESPACE/]NAME | KIND/NAME | --all')
    .argument('[kind]', 'volume, pod, pvc, snapshot or node, or with the name: volume/NAME')
    .argument('[name]', 'its name')
    .option(
      '--all',
      'list what is held up in the cluster, or in the namespace of -n, by what holds it up, worst first',
    )
    .addOption(new Option('-o, --output <format>', 'what to print').choices(['json', 'yaml']))
    .action(
      async (kind: string | undefined, name: string | undefined, _flags, command: Command) => {
        const flags = command.optsWithGlobals<WhyFlags & GlobalFlags & { all?: boolean }>();
        if (flags.all) {
          if (kind !== undefined) throw new StowageError('usage', 'with --all no object is named');
          const { whyAll } = await import('../why/all/all.ts');
          return whyAll(flags, io, await connectFor(command, io));
        }
        if (kind === undefined) throw new StowageError('usage', "missing required argument 'kind'");
        const target = parseTarget(kind, name);
        const { why: run } = await import('../why/why.ts');
        await run(target, flags, io, await connectFor(command, io));
      },
    );
}
