import { type Command, Option } from 'commander';
import { StowageError } from '../../api/errors.ts';
import { addExamples } from '../lib/examples.ts';
import { connectFor, type GlobalFlags } from '../lib/globals.ts';
import type { Io } from '../lib/io.ts';
import { parseTargets } from '../lib/target.ts';
import type { WhyFlags } from '../why/types.ts';

export default function why(program: Command, io: Io): void {
  const command = program
    .command('why')
    .description(
      'explain what blocks a Volume, a claim, a snapshot, a node or the volumes of a pod: since when, the next try, and the fix',
    )
    .usage('[options] volume|node NAME… | pod|pvc|snapshot [NAMESPACE/]NAME… | KIND/NAME… | --all')
    .argument(
      '[kind]',
      'kind: volume, pod, pvc, snapshot or node; or kind and name, as volume/NAME',
    )
    .argument('[name...]', 'names of objects of the kind')
    .option(
      '--all',
      'list all that is blocked in the cluster, or in the namespace of -n, grouped by cause, worst first',
    )
    .addOption(new Option('-o, --output <format>', 'output format').choices(['json', 'yaml']))
    .action(async (kind: string | undefined, names: string[], _flags, command: Command) => {
      const flags = command.optsWithGlobals<WhyFlags & GlobalFlags & { all?: boolean }>();
      if (flags.all) {
        if (kind !== undefined) throw new StowageError('usage', '--all takes no object');
        const { whyAll } = await import('../why/all/all.ts');
        return whyAll(flags, io, await connectFor(command, io));
      }
      if (kind === undefined) {
        throw new StowageError('usage', "missing required argument 'kind'", {
          hint: 'Name an object, such as volume/NAME, or list all that is blocked: stowage why --all',
        });
      }
      const targets = parseTargets(kind, names);
      const { why: run } = await import('../why/why.ts');
      await run(targets, flags, io, await connectFor(command, io));
    });
  addExamples(command, [
    'stowage why volume data1',
    'stowage why pod default/shell',
    'stowage why volume/data1 pvc/default/data',
    '# All that is blocked in the cluster',
    'stowage why --all',
  ]);
}
