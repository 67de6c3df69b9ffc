import { type Command, Option } from 'commander';
import { connectFor, type GlobalFlags } from '../globals.ts';
import type { Io } from '../io.ts';
import { parseTarget } from '../why/target.ts';
import type { WhyFlags } from '../why/why.ts';

export default function why(program: Command, io: Io): void {
  program
    .command('why')
    .description(
      'say what holds a Volume, a claim, a snapshot, or the volumes of a pod up, since when, when it is tried next, and what fixes it',
    )
    .usage('[options] volume/NAME | volume NAME | pod|pvc|snapshot [NAMESPACE/]NAME')
    .argument('<kind>', 'volume, pod, pvc or snapshot, or volume/NAME')
    .argument('[name]', 'its name')
    .addOption(new Option('-o, --output <format>', 'what to print').choices(['json', 'yaml']))
    .action(async (kind: string, name: string | undefined, _flags, command: Command) => {
      const flags = command.optsWithGlobals<WhyFlags & GlobalFlags>();
      const target = parseTarget(kind, name);
      const { why: run } = await import('../why/why.ts');
      await run(target, flags, io, await connectFor(command, io));
    });
}
